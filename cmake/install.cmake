# What `make install` puts where: headers, libraries, CMake package, pkg-config file, program.
include(CMakePackageConfigHelpers)
install(TARGETS drystone drystone-scenes EXPORT drystone-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/drystone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT drystone-targets NAMESPACE drystone:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drystone)
configure_package_config_file(cmake/drystone-config.cmake.in ${CMAKE_BINARY_DIR}/drystone-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drystone)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/drystone-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/drystone-config.cmake ${CMAKE_BINARY_DIR}/drystone-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drystone)
# Relative to the file itself, so that `cmake --install --prefix` and moved trees work.
file(RELATIVE_PATH DRYSTONE_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" DRYSTONE_PC_PREFIX "${DRYSTONE_PC_PREFIX}")
foreach(name drystone drystone-scenes)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/drystone.pc ${CMAKE_BINARY_DIR}/drystone-scenes.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES schema/scene.schema.json schema/sweep.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/drystone)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(DRYSTONE_TOOLS)
  install(TARGETS drystone-program DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
