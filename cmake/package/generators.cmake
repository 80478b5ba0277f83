# Which components each kind of package holds; read by cpack.
if(CPACK_GENERATOR STREQUAL "DEB")
  # MPI's part is there if Heddle was built with MPI.
  set(heddle_components tool llvm)
  list(FIND CPACK_COMPONENTS_ALL mpi heddle_mpi)
  if(NOT heddle_mpi EQUAL -1)
    list(APPEND heddle_components mpi)
  endif()
  set(CPACK_COMPONENTS_ALL ${heddle_components})
else()
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  set(CPACK_MONOLITHIC_INSTALL ON)
endif()
