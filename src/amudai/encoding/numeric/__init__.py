"""How are numbers stored? One module for each encoding; `catalog.py` lists them."""
