# keyway_generate(<target> OPS <file>... [NAME <stem>] [NAMESPACE <ns>]
#                 [TENSOR_TYPE <type>] [TENSOR_KEYS <function>] [INCLUDES <header>...])
#
# Makes typed C functions of files of schemas while the target is built (docs/generator.md), adds
# them to the target, and their headers' folder to its includes: of a library also to those of its
# users. INCLUDES are looked for in the current source folder too. The options are those of `keyway
# gen`; NAME goes with one file only.
#
# Installed too. KEYWAY_PROGRAM names the program to run, where it is not keyway::cli: when
# compiling for another machine.

# A program with a sanitizer may need fixed addresses to start.
function(keyway_generate_launcher out)
    set(launcher "")
    if(KW_SANITIZE)
        find_program(KEYWAY_SETARCH setarch)
        mark_as_advanced(KEYWAY_SETARCH)
        set(fixed ${KEYWAY_SETARCH} ${CMAKE_HOST_SYSTEM_PROCESSOR} --addr-no-randomize)
        if(KEYWAY_SETARCH)
            execute_process(COMMAND ${fixed} true RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
            if(status EQUAL 0)
                set(launcher ${fixed})
            endif()
        endif()
    endif()
    set(${out} "${launcher}" PARENT_SCOPE)
endfunction()

# What `keyway gen` calls its outputs for a file, unless it is told.
function(keyway_generate_stem file out)
    cmake_path(GET file STEM LAST_ONLY stem)
    string(REGEX REPLACE "[^A-Za-z0-9_]" "_" stem "${stem}")
    string(REGEX REPLACE "^([0-9])" "_\\1" stem "${stem}")
    set(${out} ${stem} PARENT_SCOPE)
endfunction()

function(keyway_generate target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;NAMESPACE;TENSOR_TYPE;TENSOR_KEYS"
        "OPS;INCLUDES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_OPS)
        message(FATAL_ERROR "keyway_generate(${target}): OPS names no file, or something is "
            "unknown: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT KEYWAY_PROGRAM AND NOT TARGET keyway::cli)
        message(FATAL_ERROR "keyway_generate(${target}) needs the program keyway: build it with "
            "KW_BUILD_CLI, or set KEYWAY_PROGRAM")
    endif()
    set(options "")
    foreach(name IN ITEMS NAMESPACE TENSOR_TYPE TENSOR_KEYS)
        if(arg_${name})
            string(TOLOWER ${name} option)
            string(REPLACE "_" "-" option ${option})
            list(APPEND options --${option} ${arg_${name}})
        endif()
    endforeach()
    foreach(header IN LISTS arg_INCLUDES)
        list(APPEND options --include ${header})
    endforeach()
    if(KEYWAY_PROGRAM)
        set(program ${KEYWAY_PROGRAM})
        set(dependency ${KEYWAY_PROGRAM})
    else()
        keyway_generate_launcher(launcher)
        set(program ${launcher} $<TARGET_FILE:keyway::cli>)
        set(dependency keyway::cli)
    endif()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.keyway)
    foreach(file IN LISTS arg_OPS)
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        keyway_generate_stem(${file} stem)
        if(arg_NAME)
            set(stem ${arg_NAME})
        endif()
        # Outputs that would not change are left as they are; the stamp tells when that was.
        set(outputs ${folder}/${stem}.c ${folder}/${stem}.h)
        add_custom_command(VERBATIM
            OUTPUT ${folder}/${stem}.stamp
            BYPRODUCTS ${outputs}
            COMMAND ${program} gen ${file} -o ${folder} --name ${stem} ${options}
            COMMAND ${CMAKE_COMMAND} -E touch ${folder}/${stem}.stamp
            DEPENDS ${file} ${dependency}
            COMMENT "Generating ${stem}.c and ${stem}.h")
        target_sources(${target} PRIVATE ${outputs} ${folder}/${stem}.stamp)
    endforeach()

    if(arg_INCLUDES)
        target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "EXECUTABLE" OR kind STREQUAL "MODULE_LIBRARY")
        target_include_directories(${target} PRIVATE ${folder})
    else()
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
    endif()
endfunction()
