// The native module: its parts, and the only place where C++ errors become Python errors.
#include "bindings/blocks.hpp"
#include "bindings/parts.hpp"
#include "binary/run.hpp"

namespace {

namespace nb = nanobind;

// Sets one of our Python errors, with the block's ordinal if it is known.
void raise(const char* kind, const char* message, const std::uint64_t* block) {
    nb::object type = nb::module_::import_("amudai.errors").attr(kind);
    nb::object error = type(message);
    if (block) error.attr("place")["block"] = *block;
    PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const amudai::AtBlock<amudai::Corrupted>& error) {
        raise("CorruptedData", error.what(), &error.block);
    } catch (const amudai::AtBlock<amudai::Unsupported>& error) {
        raise("UnsupportedFeature", error.what(), &error.block);
    } catch (const amudai::Corrupted& error) {
        raise("CorruptedData", error.what(), nullptr);
    } catch (const amudai::Unsupported& error) {
        raise("UnsupportedFeature", error.what(), nullptr);
    } catch (const amudai::binary::TooLong& error) {
        PyErr_SetString(PyExc_OverflowError, error.what());
    }
}

}  // namespace

NB_MODULE(AMUDAI_MODULE, m) {
    m.doc() = "Loops that would be slow in Python: blocks in, arrays out.";
    nb::register_exception_translator(translate);
    // A shard that is still open when the interpreter exits holds objects of this module. That is not a leak, so do not
    // bother the user with warnings.
    nb::set_leak_warnings(false);
    amudai::bindings::bind_blocks(m);
    amudai::bindings::bind_numeric(m);
    amudai::bindings::bind_binary(m);
    amudai::bindings::bind_text(m);
    amudai::bindings::bind_compress(m);
    amudai::bindings::bind_compare(m);
    amudai::bindings::bind_decimal(m);
    amudai::bindings::bind_json(m);
    amudai::bindings::bind_log_lines(m);
    amudai::bindings::bind_match(m);
    amudai::bindings::bind_rows(m);
    amudai::bindings::bind_block_map(m);
    amudai::bindings::bind_hash_index(m);
    amudai::bindings::bind_term(m);
    amudai::bindings::bind_term_lookup(m);
    amudai::bindings::bind_lines(m);
    amudai::bindings::bind_csv(m);
    amudai::bindings::bind_columns(m);
    amudai::bindings::bind_metadata(m);
}
