"""What does `python -m amudai` do? The same as the command `amudai`."""

from amudai.cli import main

if __name__ == "__main__":
    main()
