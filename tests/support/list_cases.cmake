# Asks a Criterion program for its cases and writes them down as CTest tests.
#
# Script variables: PROGRAM, LABEL, TIMEOUT, ENVIRONMENT, OUTPUT (the file to write).

execute_process(COMMAND ${PROGRAM} --list
    OUTPUT_VARIABLE listing OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" lines "${listing}")

# A suite is a line "keyset: 2 tests"; each of its cases a line with a branch of the tree, a space
# and the name.
set(script "")
foreach(line IN LISTS lines)
    if(line MATCHES "^([A-Za-z0-9_]+): [0-9]+ tests?$")
        set(suite ${CMAKE_MATCH_1})
    elseif(line MATCHES "^[^ ]+ ([A-Za-z0-9_]+)( |$)")
        set(case ${CMAKE_MATCH_1})
        set(name ${LABEL}.${suite}.${case})
        # A filter that fits nothing is no error to Criterion; here it is one.
        string(APPEND script
            "add_test(${name} \"${PROGRAM}\" --filter ${suite}/${case})\n"
            "set_tests_properties(${name} PROPERTIES LABELS ${LABEL} TIMEOUT ${TIMEOUT}\n"
            "    ENVIRONMENT \"${ENVIRONMENT}\" FAIL_REGULAR_EXPRESSION \"Tested: 0\")\n")
    else()
        message(FATAL_ERROR "${PROGRAM} --list: unexpected line '${line}'")
    endif()
endforeach()
file(WRITE ${OUTPUT} "${script}")
