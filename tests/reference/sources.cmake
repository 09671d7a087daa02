# What a program that compares with the sequential reference is compiled from.

set(keyway_reference_sources
    ${CMAKE_CURRENT_LIST_DIR}/answer.c
    ${CMAKE_CURRENT_LIST_DIR}/commit.c
    ${CMAKE_CURRENT_LIST_DIR}/reference.c
    ${CMAKE_CURRENT_LIST_DIR}/signature.c)
