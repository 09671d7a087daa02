# Passes if a program fails and says why: proof that a seeded fault turns a test red.
#
# Script variables: PROGRAM, REPORT (a regular expression its output must match), TRIES (how often
# to run it at most, since a race is not caught each time).

foreach(try RANGE 1 ${TRIES})
    execute_process(COMMAND ${PROGRAM}
        OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
    if(NOT status EQUAL 0 AND output MATCHES "${REPORT}")
        message(STATUS "as it should, ${PROGRAM} failed with ${status}: ${CMAKE_MATCH_0}")
        return()
    endif()
endforeach()
message("${output}")
message(FATAL_ERROR "${PROGRAM} ended with ${status} and no report of '${REPORT}'")
