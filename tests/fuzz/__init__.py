"""Coverage-guided fuzzing of every parser and kernel: `make fuzz`. `targets.py` says what is fuzzed."""
