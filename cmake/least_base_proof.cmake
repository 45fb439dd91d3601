# Gives ropelab_app the rows of experiments/least-base-proof.csv, behind
# app/claims/least_base_proof.hpp. The search for them takes minutes; checking them does not.
set(proof_table ${CMAKE_SOURCE_DIR}/experiments/least-base-proof.csv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${proof_table})
file(READ ${proof_table} rows)
string(REPLACE "rope_dim,context,ratio,witness\n" "" rows "${rows}")
string(REGEX REPLACE ",\n" ",0\n" rows "${rows}")
string(REGEX REPLACE "([^\n]+)\n" "    {\\1},\n" rows "${rows}")

set(proof_source ${CMAKE_BINARY_DIR}/generated/least_base_proof.cpp)
file(CONFIGURE OUTPUT ${proof_source} @ONLY CONTENT
"#include \"app/claims/least_base_proof.hpp\"

namespace ropelab::app {
namespace {

constexpr ProofRow rows[] = {
@rows@};

}  // namespace

std::span<const ProofRow> least_base_proof_rows() { return rows; }

}  // namespace ropelab::app
")
target_sources(ropelab_app PRIVATE ${proof_source})
set_source_files_properties(${proof_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
