# Which components each kind of package holds; read by cpack.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL tool llvm)
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  set(CPACK_MONOLITHIC_INSTALL ON)
endif()
