# The fuzz targets once more with clang, libFuzzer and sanitizers, beside a build of another
# compiler: libfuzzer_<target> in the build's folder of this one. The library's layers that targets
# need are compiled again for it. Without clang, or without its libFuzzer, nothing is built.

find_program(KEYWAY_CLANG NAMES clang clang-19 clang-16 clang-15 clang-14)
set(flags -std=c11 -g -O1 -fno-omit-frame-pointer -D_GNU_SOURCE -DKWI_TESTING=1
    "-DKWI_VERSION=\"${PROJECT_VERSION}\""
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/tests)
set(sanitizers -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)

set(probe ${CMAKE_CURRENT_BINARY_DIR}/probe.c)
file(WRITE ${probe} "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)
{
    return data != 0 && size > 0 ? 0 : 0;
}
")
set(works 1)
if(KEYWAY_CLANG)
    execute_process(COMMAND ${KEYWAY_CLANG} ${sanitizers} ${probe} -o ${probe}.program
        RESULT_VARIABLE works OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT works EQUAL 0)
    message(STATUS "No clang with libFuzzer: its tests will be skipped")
    return()
endif()

# Compiles a source and appends the object to the list <out>.
function(keyway_libfuzzer_object out name source)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/libfuzzer/${name}.o)
    cmake_path(GET object PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object} VERBATIM
        COMMAND ${KEYWAY_CLANG} ${flags} ${sanitizers} ${ARGN} -MD -MF ${object}.d
            -c ${source} -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d
        COMMENT "Building libfuzzer/${name}.o")
    set(${out} ${${out}} ${object} PARENT_SCOPE)
endfunction()

# The library's layers, each compiled for the first target that needs it.
set(parsers base key schema)
set(layers ${parsers})
foreach(target IN LISTS KEYWAY_FUZZ_TARGETS)
    list(APPEND layers ${KEYWAY_FUZZ_LAYERS_${target}})
endforeach()
list(REMOVE_DUPLICATES layers)

# liburcu-bp gives its reader records less alignment than their type declares, see src/.
set(flags_of_rcu/section.c -fno-sanitize=alignment)
set(flags_of_rcu/thread.c -fno-sanitize=alignment)
set(flags_of_call/begin.c -fno-sanitize=alignment)
get_target_property(all_sources keyway_testing SOURCES)
foreach(target IN LISTS KEYWAY_FUZZ_TARGETS)
    if(KEYWAY_FUZZ_LEAF_${target})
        get_target_property(of_leaf ${KEYWAY_FUZZ_LEAF_${target}} SOURCES)
        list(APPEND all_sources ${of_leaf})
    endif()
endforeach()
foreach(layer IN LISTS layers)
    set(sources ${all_sources})
    list(FILTER sources INCLUDE REGEX "^${layer}/")
    foreach(source IN LISTS sources)
        keyway_libfuzzer_object(library_${layer} ${source} ${PROJECT_SOURCE_DIR}/src/${source}
            ${flags_of_${source}})
    endforeach()
endforeach()

set(programs)
foreach(target IN LISTS KEYWAY_FUZZ_TARGETS ITEMS schema_seeded)
    set(objects)
    list(TRANSFORM KEYWAY_FUZZ_DEFINITIONS_${target} PREPEND -D OUTPUT_VARIABLE definitions)
    foreach(source IN LISTS KEYWAY_FUZZ_SOURCES_${target})
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        cmake_path(GET source STEM name)
        keyway_libfuzzer_object(objects ${target}/${name} ${source} ${definitions})
    endforeach()
    foreach(layer IN LISTS parsers KEYWAY_FUZZ_LAYERS_${target})
        list(APPEND objects ${library_${layer}})
    endforeach()
    set(program ${CMAKE_CURRENT_BINARY_DIR}/libfuzzer_${target})
    add_custom_command(OUTPUT ${program} VERBATIM
        COMMAND ${KEYWAY_CLANG} ${sanitizers} ${objects} -o ${program}
            ${KEYWAY_FUZZ_LIBRARIES_${target}} -lpthread -lm
        DEPENDS ${objects}
        COMMENT "Linking libfuzzer_${target}")
    list(APPEND programs ${program})
endforeach()
add_custom_target(fuzz_libfuzzer ALL DEPENDS ${programs})
