# Passes if the demo ends with the status it should, and its JSON says the same.
#
# Script variables: PROGRAM, ARGUMENTS (a list), JSON (a file to write), STATUS (what it has to end
# with), FIELDS (what has to hold in the JSON, as "<field> <operator> <number>", with the operators
# of if(); a list), COUNT (how many fields the JSON has to have), REPORT (a regular expression its
# output has to match).

cmake_policy(VERSION 3.25)
file(REMOVE ${JSON})
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} --json ${JSON}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
message("${output}")
if(NOT status STREQUAL STATUS)
    message(FATAL_ERROR "the demo ended with ${status}, not with ${STATUS}")
endif()
if(NOT output MATCHES "${REPORT}")
    message(FATAL_ERROR "the demo did not print '${REPORT}'")
endif()
if(NOT FIELDS)
    return()
endif()

file(READ ${JSON} json)
string(JSON count LENGTH "${json}")
if(NOT count EQUAL COUNT)
    message(FATAL_ERROR "${json}: ${count} fields, expected ${COUNT}")
endif()
foreach(field images correct wrong failed commits seconds p50_us p99_us)
    string(JSON type TYPE "${json}" ${field})
    if(NOT type STREQUAL "NUMBER")
        message(FATAL_ERROR "${json}: ${field} is no number")
    endif()
endforeach()
foreach(wanted IN LISTS FIELDS)
    separate_arguments(words UNIX_COMMAND "${wanted}")
    list(POP_FRONT words field operator number)
    string(JSON value GET "${json}" ${field})
    if(NOT ${value} ${operator} ${number})
        message(FATAL_ERROR "${json}: ${field} has to be ${operator} ${number}")
    endif()
endforeach()
