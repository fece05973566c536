"""How is a shard built?

There is a builder for each kind of schema node, in `leaf_builders.py` or `container_builders.py`: values go in, encoded
buffers and statistics come out, in a spool. `stripe.py` puts the buffers of a stripe into a file and says where they
lie, `shard.py` puts it all together, `placed.py` describes it and `metadata.py` writes the description. `artifact.py`
is what an index needs to be built along the way. `nanoseconds.py` leaves out internal fields that hold nothing but 0.
"""
