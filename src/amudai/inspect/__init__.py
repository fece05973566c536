"""What is in a shard, and is it sound?

`layout.py` has the facts: `ShardLayout`, `StripeLayout`, `FieldLayout`, down to the buffers and blocks that the column
room describes. `describe.py` collects them from an open shard. `verify.py` reads every byte and lists the problems.
`soundness.py` finds the rows of a damaged shard that can be read. The command line and notebooks show what this room
says.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.column import BlockLayout, BufferLayout
    from amudai.inspect.describe import Depth, creation_times, file_sizes, inspect_shard, total_layouts, user_properties
    from amudai.inspect.files import ShardFile, files_of
    from amudai.inspect.indexes import Index, indexes_of
    from amudai.inspect.labels import field_label
    from amudai.inspect.layout import FieldLayout, ShardLayout, StripeLayout
    from amudai.inspect.problem import Problem
    from amudai.inspect.soundness import LostRows, SoundRows, sound_rows
    from amudai.inspect.texts import counted, size_text
    from amudai.inspect.verify import Verification, verify_shard
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.column": "BlockLayout BufferLayout",
            "amudai.inspect.describe": "Depth creation_times file_sizes inspect_shard total_layouts user_properties",
            "amudai.inspect.files": "ShardFile files_of",
            "amudai.inspect.indexes": "Index indexes_of",
            "amudai.inspect.labels": "field_label",
            "amudai.inspect.layout": "FieldLayout ShardLayout StripeLayout",
            "amudai.inspect.problem": "Problem",
            "amudai.inspect.soundness": "LostRows SoundRows sound_rows",
            "amudai.inspect.texts": "counted size_text",
            "amudai.inspect.verify": "Verification verify_shard",
        },
    )

__all__ = [
    "BlockLayout",
    "BufferLayout",
    "Depth",
    "FieldLayout",
    "Index",
    "LostRows",
    "Problem",
    "ShardFile",
    "ShardLayout",
    "SoundRows",
    "StripeLayout",
    "Verification",
    "counted",
    "creation_times",
    "field_label",
    "file_sizes",
    "files_of",
    "indexes_of",
    "inspect_shard",
    "size_text",
    "sound_rows",
    "total_layouts",
    "user_properties",
    "verify_shard",
]
