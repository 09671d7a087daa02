# Finds CPython for the package keyway, by KW_BUILD_PYTHON. Sets KEYWAY_PYTHON.
#
# Debian's own Python comes first: another one on PATH may have no headers, NumPy or PyTorch.

set(KW_BUILD_PYTHON AUTO CACHE STRING "Build the Python package: ON, OFF, or AUTO, if it can be")
set_property(CACHE KW_BUILD_PYTHON PROPERTY STRINGS AUTO ON OFF)

set(KEYWAY_PYTHON OFF)
set(python_wanted ${KW_BUILD_PYTHON})
if(KW_BUILD_PYTHON STREQUAL "AUTO")
    # A static library would be in the process twice, once in the module and once in the host. A
    # program that ThreadSanitizer has not compiled cannot load what it has.
    set(python_wanted ${PROJECT_IS_TOP_LEVEL})
    if((DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS) OR KW_SANITIZE STREQUAL "thread")
        set(python_wanted OFF)
    endif()
endif()
if(NOT python_wanted)
    return()
endif()

if(NOT Python3_EXECUTABLE AND NOT Python3_ROOT_DIR AND EXISTS /usr/bin/python3)
    set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
if(Python3_FOUND)
    set(KEYWAY_PYTHON ON)
elseif(NOT KW_BUILD_PYTHON STREQUAL "AUTO")
    message(FATAL_ERROR "KW_BUILD_PYTHON is ON, and there is no CPython 3.11 with its headers")
else()
    message(STATUS "CPython 3.11 or its headers are missing: the Python package is left out")
endif()
