"""Where do bytes live?

In stores: local files, memory, and whatever obstore, fsspec or pyarrow.fs can reach. `contract.py` has the three verbs
that all of them share and the capabilities that they declare. `opening.py` finds the store of a location,
`references.py` says which file a reference means, `allowed.py` which files outside of a shard's folder may be read,
`artifact.py` reads one file in few requests, `cached.py` keeps blocks of remote files on disk. Writers keep pieces in a
`Spool` until their place is known, and files in a `Sealing` until all of them are complete. `portable.py` says how
another process opens the same store. Nothing here knows what the bytes mean.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.storage.allowed import Allow, Allowed, PortableAllowed
    from amudai.storage.arrow_fs import ArrowStore
    from amudai.storage.artifact import MAX_READ, Artifact, FetchedRanges
    from amudai.storage.cached import CachedStore
    from amudai.storage.contract import MERGE_GAP, Requests, Store, StoreCapabilities, StoredFile
    from amudai.storage.folder import remove_parts
    from amudai.storage.foreign import translated
    from amudai.storage.fsspec_fs import FsspecStore
    from amudai.storage.local import LocalStore
    from amudai.storage.memory import MemoryStore
    from amudai.storage.meter import Meter, count_blocks, metered
    from amudai.storage.object_store import ObjectStore, object_store_at
    from amudai.storage.opening import open_store
    from amudai.storage.portable import PortableStore, portable_store
    from amudai.storage.references import check_reference, container, file_url, is_relative, resolve
    from amudai.storage.sealed import SealedFile, Sealing, remove_files
    from amudai.storage.sizes import Size, size_of
    from amudai.storage.spool import Spool
    from amudai.storage.target_place import TargetPlace
    from amudai.storage.times import moment
    from amudai.storage.unpublished import is_part
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.storage.allowed": "Allow Allowed PortableAllowed",
            "amudai.storage.arrow_fs": "ArrowStore",
            "amudai.storage.artifact": "MAX_READ Artifact FetchedRanges",
            "amudai.storage.cached": "CachedStore",
            "amudai.storage.contract": "MERGE_GAP Requests Store StoreCapabilities StoredFile",
            "amudai.storage.folder": "remove_parts",
            "amudai.storage.foreign": "translated",
            "amudai.storage.fsspec_fs": "FsspecStore",
            "amudai.storage.local": "LocalStore",
            "amudai.storage.memory": "MemoryStore",
            "amudai.storage.meter": "Meter count_blocks metered",
            "amudai.storage.object_store": "ObjectStore object_store_at",
            "amudai.storage.opening": "open_store",
            "amudai.storage.portable": "PortableStore portable_store",
            "amudai.storage.references": "check_reference container file_url is_relative resolve",
            "amudai.storage.sealed": "SealedFile Sealing remove_files",
            "amudai.storage.sizes": "Size size_of",
            "amudai.storage.spool": "Spool",
            "amudai.storage.target_place": "TargetPlace",
            "amudai.storage.times": "moment",
            "amudai.storage.unpublished": "is_part",
        },
    )

__all__ = [
    "MAX_READ",
    "MERGE_GAP",
    "Allow",
    "Allowed",
    "ArrowStore",
    "Artifact",
    "CachedStore",
    "FetchedRanges",
    "FsspecStore",
    "LocalStore",
    "MemoryStore",
    "Meter",
    "ObjectStore",
    "PortableAllowed",
    "PortableStore",
    "Requests",
    "SealedFile",
    "Sealing",
    "Size",
    "Spool",
    "Store",
    "StoreCapabilities",
    "StoredFile",
    "TargetPlace",
    "check_reference",
    "container",
    "count_blocks",
    "file_url",
    "is_part",
    "is_relative",
    "metered",
    "moment",
    "object_store_at",
    "open_store",
    "portable_store",
    "remove_files",
    "remove_parts",
    "resolve",
    "size_of",
    "translated",
]
