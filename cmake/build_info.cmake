# Gives ropelab_table the generated source behind ropelab/table/build_info.hpp.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
get_target_property(shared_options ropelab_options INTERFACE_COMPILE_OPTIONS)
foreach(flag IN LISTS shared_options)
  if(NOT flag MATCHES "^-W|^-ffile-prefix-map")  # neither changes a figure; one names a folder
    string(APPEND flags " ${flag}")
  endif()
endforeach()
string(STRIP "${flags}" flags)
string(REGEX REPLACE " +" " " flags "${flags}")
string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" flags "${flags}")

set(build_info_source ${CMAKE_BINARY_DIR}/generated/build_info.cpp)
add_custom_target(ropelab_build_info
  COMMAND ${CMAKE_COMMAND}
    -D source_dir=${CMAKE_SOURCE_DIR} -D output=${build_info_source}
    -D version=${PROJECT_VERSION}
    -D "compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "flags=${flags}"
    -P ${CMAKE_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${build_info_source}
  VERBATIM)
target_sources(ropelab_table PRIVATE ${build_info_source})
set_source_files_properties(${build_info_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_dependencies(ropelab_table ropelab_build_info)
