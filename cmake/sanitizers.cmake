# Sanitizers and coverage, by KW_SANITIZE and KW_COVERAGE. Linked privately, never exported.

add_library(keyway_sanitizers INTERFACE)

if(KW_SANITIZE STREQUAL "address")
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(KW_SANITIZE STREQUAL "thread")
    set(flags -fsanitize=thread)
elseif(NOT KW_SANITIZE STREQUAL "")
    message(FATAL_ERROR "KW_SANITIZE is '${KW_SANITIZE}'; it can be address, thread or empty")
else()
    set(flags "")
endif()

if(flags)
    target_compile_options(keyway_sanitizers INTERFACE ${flags} -fno-omit-frame-pointer)
    target_link_options(keyway_sanitizers INTERFACE ${flags})
endif()
if(KW_COVERAGE)
    # Atomic: plain counters lose counts between threads, and some even fall below zero.
    target_compile_options(keyway_sanitizers INTERFACE --coverage -fprofile-update=atomic)
    target_compile_definitions(keyway_sanitizers INTERFACE KW_COUNTS_COVERAGE)
    target_link_options(keyway_sanitizers INTERFACE --coverage)
endif()
