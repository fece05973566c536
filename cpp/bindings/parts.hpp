// The parts of the native module. Only module.cpp includes this header, so a new part does not recompile the others.
#pragma once
#include <nanobind/nanobind.h>

namespace amudai::bindings {

void bind_blocks(nanobind::module_& m);
void bind_numeric(nanobind::module_& m);
void bind_binary(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_compress(nanobind::module_& m);
void bind_compare(nanobind::module_& m);
void bind_decimal(nanobind::module_& m);
void bind_json(nanobind::module_& m);
void bind_log_lines(nanobind::module_& m);
void bind_match(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_block_map(nanobind::module_& m);
void bind_hash_index(nanobind::module_& m);
void bind_term(nanobind::module_& m);
void bind_term_lookup(nanobind::module_& m);
void bind_lines(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_columns(nanobind::module_& m);
void bind_metadata(nanobind::module_& m);

}  // namespace amudai::bindings
