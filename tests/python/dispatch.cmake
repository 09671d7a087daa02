# Tests of operators that Python takes over, and of PyTorch routed through them.
#
# Those with PyTorch, whose import alone takes two seconds, run in the optimised build, and where
# AddressSanitizer looks at the kernels in C. They skip themselves without it.

add_library(python_hold MODULE hold.c)
keyway_settings(python_hold)
set_target_properties(python_hold PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(python_hold PRIVATE
    keyway::keyway keyway::tensor keyway::interp Threads::Threads)

foreach(name IN ITEMS
    dispatch_exit
    mode
    subclass
    taking_over)
    keyway_python_test(${name})
endforeach()

if(KW_COVERAGE OR (CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT KW_SANITIZE))
    return()
endif()
if(KW_SANITIZE)
    keyway_python_test(torch_route InC Sharing)
else()
    keyway_python_test(torch_route)
    keyway_python_test(torch_trace)
endif()
if(TARGET torch_route_kernels)
    set_property(TEST python.torch_route APPEND PROPERTY ENVIRONMENT
        KEYWAY_ROUTE_PLUGIN=$<TARGET_FILE:torch_route_kernels>)
endif()
