# Tests of shapes, views, copies, versions and DLPack.

keyway_tensor_test(shape places.c)
keyway_tensor_test(shape_view places.c)
keyway_tensor_test(view places.c)
keyway_tensor_test(version places.c)
keyway_tensor_test(copy places.c)
keyway_tensor_test(dlpack places.c)
keyway_tensor_test(view_oom places.c)

# The library's own structures beside those of DLPack's header, which is optional.
find_path(KEYWAY_DLPACK_INCLUDE dlpack/dlpack.h)
if(KEYWAY_DLPACK_INCLUDE)
    keyway_program_test(dlpack_layout LABELS tensor SOURCES dlpack_layout.c dlpack_installed.c)
    target_include_directories(tensor_dlpack_layout SYSTEM PRIVATE ${KEYWAY_DLPACK_INCLUDE})
endif()

keyway_program_test(view_threads LABELS tensor concurrency
    SOURCES view_threads.c LIBRARIES keyway::tensor_testing)
