# `cmake --install`: headers, library and the files that find_package(Refrain) reads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Refrain)

install(TARGETS refrain refrain_oracle_core EXPORT RefrainTargets COMPONENT refrain_development)
# Its headers apart from the public ones, which programs of the runtime see.
install(TARGETS refrain_repeats EXPORT RefrainTargets COMPONENT refrain_development
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/refrain-repeats
        COMPONENT refrain_development)
# Asked for as a component: the oracle alone is a C library.
install(TARGETS refrain_oracle EXPORT RefrainOracleTargets COMPONENT refrain_development)
install(TARGETS refrain_oracle LIBRARY NAMELINK_SKIP COMPONENT refrain_tools)
install(EXPORT RefrainOracleTargets NAMESPACE Refrain:: DESTINATION ${package_dir}
        COMPONENT refrain_development)
# Machines that have a name (machine/description.cpp looks there).
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION share/refrain COMPONENT refrain_tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/refrain DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT refrain_development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT refrain_development)
install(EXPORT RefrainTargets NAMESPACE Refrain:: DESTINATION ${package_dir}
        COMPONENT refrain_development)
if(REFRAIN_BUILD_ARRAYS)
  # Asked for as a component: only who uses arrays needs what they are built on.
  install(TARGETS refrain_arrays EXPORT RefrainArraysTargets COMPONENT refrain_development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/arrays/include/refrain
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT refrain_development)
  install(EXPORT RefrainArraysTargets NAMESPACE Refrain:: DESTINATION ${package_dir}
          COMPONENT refrain_development)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/RefrainConfig.cmake.in
  ${PROJECT_BINARY_DIR}/RefrainConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 each minor version may break what used the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RefrainConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RefrainConfig.cmake
        ${PROJECT_BINARY_DIR}/RefrainConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT refrain_development)
