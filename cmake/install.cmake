# Installs the libraries, their headers, the program `keyway`, the CMake package `keyway`, and
# keyway.pc and one more for each library over it.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/keyway)

install(TARGETS keyway EXPORT keyway FILE_SET HEADERS FILE_SET cxx_headers)
install(TARGETS keyway_tensor EXPORT keyway FILE_SET HEADERS)
install(TARGETS keyway_interp EXPORT keyway FILE_SET HEADERS)
if(KW_BUILD_CLI)
    file(RELATIVE_PATH library_dir /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(keyway_cli PROPERTIES
        EXPORT_NAME cli INSTALL_RPATH "$ORIGIN/${library_dir}")
    install(TARGETS keyway_cli EXPORT keyway)
endif()
install(EXPORT keyway FILE keyway-targets.cmake NAMESPACE keyway:: DESTINATION ${package_dir})

get_target_property(kind keyway TYPE)
string(COMPARE EQUAL ${kind} STATIC_LIBRARY keyway_is_static)
configure_package_config_file(cmake/keyway-config.cmake.in keyway-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(keyway-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/keyway-config.cmake
    ${PROJECT_BINARY_DIR}/keyway-config-version.cmake
    cmake/dependencies.cmake
    cmake/generate.cmake
    DESTINATION ${package_dir})

# The prefix is relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name IN ITEMS keyway keyway-tensor keyway-interp)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
