# Tests of operators that Python takes over, and of PyTorch routed through them.
#
# Those with PyTorch, whose import alone takes a second or two, run in the optimised build. They skip
# themselves without it.

add_library(python_hold MODULE hold.c)
keyway_settings(python_hold)
set_target_properties(python_hold PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(python_hold PRIVATE
    keyway::keyway keyway::tensor keyway::interp Threads::Threads)

foreach(name IN ITEMS
    dispatch_exit
    mode
    route_kernels
    subclass
    taking_over)
    keyway_python_test(${name})
endforeach()
set(with_plugin python.route_kernels)

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT KW_SANITIZE)
    keyway_python_test(torch_route)
    keyway_python_test(torch_trace)
    list(APPEND with_plugin python.torch_route)
endif()

if(TARGET torch_route_kernels)
    set_property(TEST ${with_plugin} APPEND PROPERTY ENVIRONMENT
        KEYWAY_ROUTE_PLUGIN=$<TARGET_FILE:torch_route_kernels>)
endif()
