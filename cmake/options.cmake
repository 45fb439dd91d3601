# Compiler options that every target of this project shares.
add_library(ropelab_options INTERFACE)
target_link_libraries(ropelab_options INTERFACE Threads::Threads)
target_compile_options(ropelab_options INTERFACE
  # a*b+c must stay two roundings: figures are the same on every machine and at every -O.
  -ffp-contract=off
  # Sound wherever the source file differs between folders: no path of the building machine.
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What g++ believes to see after inlining Boost and std::string is not there (GCC bug 105329 and
  # its kin). clang++ and the sanitizers of the development preset look for the real thing.
  target_compile_options(ropelab_options INTERFACE
    -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread
    -Wno-subobject-linkage)  # in a unity build every file looks like a header to it
endif()
if(ROPELAB_WARNINGS_AS_ERRORS)
  target_compile_options(ropelab_options INTERFACE -Werror)
endif()
if(ROPELAB_SANITIZERS)
  target_compile_options(ropelab_options INTERFACE
    -fsanitize=${ROPELAB_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ropelab_options INTERFACE -fsanitize=${ROPELAB_SANITIZERS})
endif()
