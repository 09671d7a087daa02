# keyway_test(<name> LABELS <kind>... COMMAND ... [TIMEOUT <seconds>])
#
# Registers a test with what every test has: a label that says its kind, a time limit (four times
# as long under a sanitizer), and sanitizers that turn a finding into a failure. An exit status of
# 77 means that the test could not be made here.

set(KEYWAY_TEST_ENVIRONMENT
    "ASAN_OPTIONS=abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1"
    "UBSAN_OPTIONS=print_stacktrace=1")

# Sets <out> to the time limit under the sanitizer of this build.
function(keyway_time_limit seconds out)
    if(KW_SANITIZE)
        math(EXPR seconds "4 * ${seconds}")
    endif()
    set(${out} ${seconds} PARENT_SCOPE)
endfunction()

function(keyway_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;COMMAND")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    keyway_time_limit(${arg_TIMEOUT} limit)
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES
        LABELS "${arg_LABELS}"
        TIMEOUT ${limit}
        ENVIRONMENT "${KEYWAY_TEST_ENVIRONMENT}"
        SKIP_RETURN_CODE 77)
endfunction()
