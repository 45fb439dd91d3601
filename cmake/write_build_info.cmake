# Run at every build: writes the source that holds version, commit, compiler and flags, and
# touches it only where something has changed, so that a new commit recompiles one file.
execute_process(COMMAND git rev-parse --short=12 HEAD
  WORKING_DIRECTORY ${source_dir} OUTPUT_VARIABLE commit ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
endif()
configure_file(${source_dir}/cmake/build_info.cpp.in ${output} @ONLY)
