# keyway_settings(<target>): what all our own targets share, the library among them.
# keyway_program(<target> [SOURCES ...] [LIBRARIES ...]): a program of the project, in bin/.

function(keyway_settings target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF
        CXX_STANDARD 11
        CXX_STANDARD_REQUIRED ON
        CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_link_libraries(${target} PRIVATE
        $<BUILD_INTERFACE:keyway_warnings> $<BUILD_INTERFACE:keyway_sanitizers>)
endfunction()

function(keyway_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
    add_executable(${target} ${arg_SOURCES})
    keyway_settings(${target})
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} Threads::Threads)
endfunction()
