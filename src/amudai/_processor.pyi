"""What this processor can do; compiled from `cpp/bindings/processor.cpp`."""

def runs_v3() -> bool:
    """Whether this processor and system run code of the level x86-64-v3."""
