"""Memory stays flat over many operations, and limits of the system end in errors of ours."""
