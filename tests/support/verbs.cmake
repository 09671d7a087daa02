# The verbs that add tests; tests/CMakeLists.txt uses them, one line a test.
#
# keyway_fixture(<name> <source>...)
#   Compiles what many test programs share once; they name it as ${<name>_fixture} among SOURCES.
#
# keyway_unit_test(<name> [LABEL <kind>] [SOURCES ...] [LIBRARIES ...] [TIMEOUT <seconds>])
#   A Criterion program, by default from <kind>/<name>_test.c with <kind> `unit`. Each case is a
#   process of its own. In a debug build it is also a test of its own, <kind>.<suite>.<case>; elsewhere
#   the program is one, <kind>.<name>, which takes half the time. Left out of a ThreadSanitizer build,
#   where Criterion cannot start, and of a build without Criterion.
#
# keyway_program_test(<name> LABELS <kind>... [SOURCES ...] [LIBRARIES ...] [ARGS ...]
#                     [TIMEOUT <seconds>])
#   A program with a main of its own, by default from <kind>/<name>.c. One test, <kind>.<name>.
#   All tests that start threads are of this sort.

function(keyway_fixture name)
    add_library(fixture_${name} OBJECT EXCLUDE_FROM_ALL ${ARGN})
    keyway_settings(fixture_${name})
    target_link_libraries(fixture_${name} PRIVATE
        keyway::testing $<TARGET_NAME_IF_EXISTS:PkgConfig::KEYWAY_CRITERION>)
    target_include_directories(fixture_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    set(${name}_fixture $<TARGET_OBJECTS:fixture_${name}> PARENT_SCOPE)
endfunction()

function(keyway_test_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
    keyway_program(${target} SOURCES ${arg_SOURCES} LIBRARIES keyway::testing ${arg_LIBRARIES})
    target_include_directories(${target} PRIVATE
        ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
endfunction()

function(keyway_unit_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;LIBRARIES")
    if(KW_SANITIZE STREQUAL "thread" OR NOT KEYWAY_CRITERION_FOUND)
        return()
    endif()
    if(NOT arg_LABEL)
        set(arg_LABEL unit)
    endif()
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${arg_LABEL}/${name}_test.c)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 30)
    endif()
    set(target ${arg_LABEL}_${name})
    keyway_test_program(${target}
        SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} PkgConfig::KEYWAY_CRITERION)

    if(KW_SANITIZE OR KW_COVERAGE OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        math(EXPR all_cases "10 * ${arg_TIMEOUT}")
        keyway_test(${arg_LABEL}.${name}
            LABELS ${arg_LABEL} TIMEOUT ${all_cases} COMMAND ${target} --jobs 1)
        set_tests_properties(${arg_LABEL}.${name} PROPERTIES FAIL_REGULAR_EXPRESSION "Tested: 0")
        return()
    endif()

    # The cases are only known once the program exists: it lists them after each link. Until then
    # the program itself is a test, one that cannot start.
    set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.ctest.cmake)
    keyway_time_limit(${arg_TIMEOUT} limit)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
        BYPRODUCTS ${list}
        COMMAND ${CMAKE_COMMAND}
            "-DPROGRAM=$<TARGET_FILE:${target}>" -DLABEL=${arg_LABEL} -DTIMEOUT=${limit}
            "-DENVIRONMENT=${KEYWAY_TEST_ENVIRONMENT}" -DOUTPUT=${list}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/list_cases.cmake)
    set(cases ${CMAKE_CURRENT_BINARY_DIR}/${target}.cases.cmake)
    file(CONFIGURE OUTPUT ${cases} CONTENT "if(EXISTS \"${list}\")
    include(\"${list}\")
else()
    add_test(${arg_LABEL}.${name}.not_built ${target})
    set_tests_properties(${arg_LABEL}.${name}.not_built PROPERTIES LABELS ${arg_LABEL})
endif()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${cases})
endfunction()

function(keyway_program_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;SOURCES;LIBRARIES;ARGS")
    list(GET arg_LABELS 0 kind)
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${kind}/${name}.c)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    set(target ${kind}_${name})
    keyway_test_program(${target} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
    keyway_test(${kind}.${name}
        LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} COMMAND ${target} ${arg_ARGS})
endfunction()
