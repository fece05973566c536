"""Do indexes tell the truth?"""
