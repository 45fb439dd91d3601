# OpenBLAS, the large products of lib/ropelab/transformer. Debian keeps the headers of its variants
# (threads, OpenMP, serial: any will do, as the library is always called for one thread) in folders
# of their own; what is in the folder above may be another BLAS's. Defines OpenBLAS::OpenBLAS.
find_path(OPENBLAS_INCLUDE_DIR cblas.h
  PATH_SUFFIXES openblas-pthread openblas-serial openblas-openmp openblas)
find_library(OPENBLAS_LIBRARY openblas
  PATH_SUFFIXES openblas-pthread openblas-serial openblas-openmp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OPENBLAS_LIBRARY OPENBLAS_INCLUDE_DIR)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
    IMPORTED_LOCATION "${OPENBLAS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OPENBLAS_INCLUDE_DIR}")
endif()
