# What a program that runs sequences of operations is compiled from.

include(${CMAKE_CURRENT_LIST_DIR}/../reference/sources.cmake)
set(keyway_operations_sources
    ${CMAKE_CURRENT_LIST_DIR}/call.c
    ${CMAKE_CURRENT_LIST_DIR}/change.c
    ${CMAKE_CURRENT_LIST_DIR}/compare.c
    ${CMAKE_CURRENT_LIST_DIR}/kernels.c
    ${CMAKE_CURRENT_LIST_DIR}/memory.c
    ${CMAKE_CURRENT_LIST_DIR}/print.c
    ${CMAKE_CURRENT_LIST_DIR}/run.c
    ${CMAKE_CURRENT_LIST_DIR}/sequence.c
    ${keyway_reference_sources})
