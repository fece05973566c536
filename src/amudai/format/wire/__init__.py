"""Generated from proto/amudai.proto by `make proto`; not edited by hand."""
