# The warnings every file of the project compiles without. Linked privately, never exported.

add_library(keyway_warnings INTERFACE)

set(c_only -Wstrict-prototypes -Wmissing-prototypes)
target_compile_options(keyway_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Wvla -Wcast-qual
    -Wcast-align -Wwrite-strings -Wformat=2 -Wswitch-enum -Wimplicit-fallthrough
    $<$<NOT:$<BOOL:${KW_SANITIZE}>>:-Wnull-dereference> # sanitizers make it see false paths
    "$<$<COMPILE_LANGUAGE:C>:${c_only}>"
    "$<$<OR:$<C_COMPILER_ID:Clang>,$<C_COMPILER_ID:AppleClang>>:-Wthread-safety>"
    "$<$<BOOL:${KW_WARNINGS_AS_ERRORS}>:-Werror>")
