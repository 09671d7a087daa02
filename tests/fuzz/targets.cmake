# The fuzz targets, and what each is made of besides the library.

set(KEYWAY_FUZZ_TARGETS declarations dlpack key keyset operations operator_name schema)

set(cli ${PROJECT_SOURCE_DIR}/src/cli)
set(KEYWAY_FUZZ_SOURCES_declarations
    declarations.c ${cli}/memory.c ${cli}/schema_reader.c ${cli}/schema_scan.c)
set(KEYWAY_FUZZ_SOURCES_dlpack dlpack.c)
set(KEYWAY_FUZZ_SOURCES_key key.c)
set(KEYWAY_FUZZ_SOURCES_keyset keyset.c ${cli}/expression.c ${cli}/memory.c)
include(${CMAKE_CURRENT_LIST_DIR}/../operations/sources.cmake)
set(KEYWAY_FUZZ_SOURCES_operations operations.c ${keyway_operations_sources})
set(KEYWAY_FUZZ_SOURCES_operator_name operator_name.c)
set(KEYWAY_FUZZ_SOURCES_schema schema.c)

# How many mutations make a few seconds. An unknown key is compared with all names, which takes long.
set(KEYWAY_FUZZ_MUTATIONS_declarations 200000)
set(KEYWAY_FUZZ_MUTATIONS_dlpack 400000)
set(KEYWAY_FUZZ_MUTATIONS_key 5000)
set(KEYWAY_FUZZ_MUTATIONS_keyset 5000)
set(KEYWAY_FUZZ_MUTATIONS_operations 3000)
set(KEYWAY_FUZZ_MUTATIONS_operator_name 500000)
set(KEYWAY_FUZZ_MUTATIONS_schema 400000)

set(KEYWAY_FUZZ_SOURCES_schema_seeded schema.c)
set(KEYWAY_FUZZ_DEFINITIONS_schema_seeded FUZZ_SEEDED)

# The library over libkeyway that a target tests.
set(KEYWAY_FUZZ_LEAF_dlpack keyway_tensor_testing)

# The layers of the library that a target needs, where it needs more than the parsers.
set(KEYWAY_FUZZ_LAYERS_dlpack value table rcu registry library call tensor)
set(KEYWAY_FUZZ_LIBRARIES_dlpack
    ${KEYWAY_URCU_LINK_LIBRARIES} ${KEYWAY_CK_LINK_LIBRARIES} ${KEYWAY_FFI_LINK_LIBRARIES})
set(KEYWAY_FUZZ_LAYERS_operations value table rcu registry library call)
set(KEYWAY_FUZZ_LIBRARIES_operations
    ${KEYWAY_URCU_LINK_LIBRARIES} ${KEYWAY_CK_LINK_LIBRARIES} ${KEYWAY_FFI_LINK_LIBRARIES})
