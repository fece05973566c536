"""How are strings and binaries stored? One module for each encoding; `catalog.py` lists them."""
