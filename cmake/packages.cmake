# cpack -G DEB: heddle_*.deb, and heddle-llvm_*.deb with what needs LLVM's libraries.
# cpack -G TGZ: everything. Each brings the libraries beyond libstdc++ that Heddle itself needs: their versions differ
# between Debian and Ubuntu.
# tools/package.py makes these and a wheel.
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VENDOR "Heddle")
set(CPACK_PACKAGE_CONTACT "the authors of Heddle <heddle@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs and checks CUDA C++ programs on the CPU")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_FILE_NAME heddle-${PROJECT_VERSION}-linux-x86_64)

# Libraries of Debian that a machine without Debian's packages lacks.
foreach(library fmt yaml-cpp)
  find_library(heddle_bundled NAMES ${library} NO_CACHE REQUIRED)
  file(REAL_PATH ${heddle_bundled} real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers)
  string(REGEX MATCH "SONAME +([^\n]+)" soname "${headers}")
  install(FILES ${real} DESTINATION lib/heddle COMPONENT tool RENAME ${CMAKE_MATCH_1})
  unset(heddle_bundled)
endforeach()

set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package/generators.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "g++, binutils")
set(CPACK_DEBIAN_LLVM_PACKAGE_NAME heddle-llvm)
set(CPACK_DEBIAN_LLVM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_LLVM_PACKAGE_DEPENDS "heddle (= ${PROJECT_VERSION}), libclang-common-${HEDDLE_LLVM_VERSION}-dev")
set(CPACK_COMPONENT_TOOL_DESCRIPTION "heddle run, check and replay, the compiler launcher heddle-cc, and the libraries that programs get.")
set(CPACK_COMPONENT_LLVM_DESCRIPTION "heddle lint, and machine code for kernels that run long.")
include(CPack)
