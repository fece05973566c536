"""Does a hash index find what is there?"""
