"""Shards in object stores: how many requests they take, what happens when requests fail, and who may see secrets."""

from __future__ import annotations

import pickle
import subprocess
import sys
import traceback
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest

import amudai
from amudai import CachedStore, StorageError
from amudai.errors import CorruptedData, InvalidArgument, ReplacedFile
from amudai.storage import Artifact, MemoryStore, ObjectStore
from amudai.storage.foreign import translated
from tests.storage.servers import (
    BUCKET,
    ENVIRONMENTS,
    KEY,
    SECRET,
    SLOW_SECONDS,
    Fault,
    Proxy,
    Request,
    azurite,
    gcs_endpoint,
    gcs_store,
    proxy,
    s3_endpoint,
    s3_environment,
    s3_store,
)

# A server for S3 takes a second to start.
pytestmark = pytest.mark.slow

NAME = "logs.amudai.shard"
ROWS = 20_000
# Retries without long pauses.
QUICK = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=2), "base": 2},
}
NEVER = {**QUICK, "max_retries": 0}


def table(rows: int = ROWS, shift: int = 0) -> pa.Table:
    at = range(shift, shift + rows)
    return pa.table(
        {
            "n": list(at),
            "word": [f"w{n * 7919 % 9973}" for n in at],
            "text": [f"request {n} of user{n % 97} took {n * 7919 % 10007} ms" for n in at],
        }
    )


INDEXES = [amudai.TermIndex("text"), amudai.HashIndex("word")]


@pytest.fixture(scope="module")
def content() -> bytes:
    """One shard in one file, some hundred kilobytes."""
    store = MemoryStore()
    amudai.write(table(), NAME, store=store, indexes=INDEXES, stripe_rows=5_000).close()
    return store._files[NAME]


@pytest.fixture(params=[s3_store, gcs_store])
def store_at(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes stores of a bucket: of S3, or of GCS, whose conditions are numbers of versions."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def prefix() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def seen() -> Iterator[Proxy]:
    """A proxy that only counts."""
    with proxy(s3_endpoint()) as found:
        yield found


def bytes_asked(request: Request) -> str:
    return {name.lower(): value for name, value in request.headers.items()}.get("range", "")


# ---- requests ----


def test_the_number_of_requests(content: bytes, prefix: str, seen: Proxy) -> None:
    objects = s3_store(prefix=prefix)
    objects.put(NAME, content)
    shard = amudai.open(NAME, store=s3_store(seen.endpoint, prefix=prefix), threads=1)
    counted = {"open": len(seen.requests)}

    def count(what: str, work: Any) -> Any:
        before = len(seen.requests)
        found = work()
        counted[what] = len(seen.requests) - before
        return found

    assert count("schema", lambda: shard.schema.names) == ["n", "word", "text"]
    assert count("search", lambda: shard.count(amudai.col("text").has("user13"))) == len(range(13, ROWS, 97))
    assert count("look up", lambda: shard.scan(where="word = 'w5'").positions().tolist())
    assert count("take", lambda: shard.take([7, 15_000], ["n"]).to_pydict()) == {"n": [7, 15_000]}
    assert count("scan", lambda: shard.read(["n"])).num_rows == ROWS
    assert count("scan again", lambda: shard.read(["n"])).num_rows == ROWS
    # A search reads four places of the index. Two of them may lie in one piece of 64 KiB, which is read once.
    assert counted.pop("search") in (3, 4)
    assert counted == {"open": 1, "schema": 0, "look up": 3, "take": 1, "scan": 1, "scan again": 0}
    assert shard.requests.requests == len(seen.requests)
    # Every request after the first names the version of the object that was opened.
    assert all("if-match" in {name.lower() for name in request.headers} for request in seen.requests[1:])


def test_azure_is_asked_for_the_size_first(content: bytes, prefix: str) -> None:
    azure = azurite()
    azure.store(prefix=prefix).put(NAME, content)
    with proxy(azure.endpoint) as counted:
        store = type(azure)(counted.endpoint, azure.key).store(prefix=prefix)
        shard = amudai.open(NAME, store=store)
        assert [request.method for request in counted.requests] == ["HEAD", "GET"]
        assert shard.count(amudai.col("text").has("user13")) == len(range(13, ROWS, 97))
        assert not any(bytes_asked(request).startswith("bytes=-") for request in counted.requests)
        assert shard.requests.requests == len(counted.requests)


def test_ranges_are_merged_and_fetched_at_the_same_time(prefix: str) -> None:
    objects = s3_store(prefix=prefix)
    objects.put("big", bytes(20_000_000))
    with proxy(s3_endpoint()) as patient:
        store = ObjectStore(s3_store(patient.endpoint, prefix=prefix, retry_config=NEVER))
        artifact = Artifact.open(store, "big")
        starts = pa.array([0, 500_000, 5_000_000, 9_000_000, 13_000_000, 17_000_000]).to_numpy()
        all_of_them = Barrier(5)

        def together(_: Request) -> None:
            all_of_them.wait(timeout=30)  # no answer before the last of five requests has arrived

        patient.fault = together
        found = artifact.read_many(starts, starts + 10)
        assert [len(buffer) for buffer in found.buffers] == [500_010, 10, 10, 10, 10]


def test_a_footer_makes_the_second_open_free(content: bytes, prefix: str, seen: Proxy) -> None:
    objects = s3_store(prefix=prefix)
    objects.put(NAME, content)
    footer = amudai.open(NAME, store=objects).footer
    assert SECRET.encode() not in footer
    store = s3_store(seen.endpoint, prefix=prefix)
    shard = amudai.open(NAME, store=store, footer=footer)
    assert (shard.num_rows, shard.schema.names, len(shard.stripes)) == (ROWS, ["n", "word", "text"], 4)
    assert shard.read(where="n > 50000").num_rows == 0
    assert seen.requests == []
    assert shard.take([15_000], ["n"]).to_pydict() == {"n": [15_000]}
    amudai.write(table(10), NAME, store=objects, overwrite=True)
    with pytest.raises(ReplacedFile, match=r"it was replaced .*logs\.amudai\.shard"):
        shard.read(["text"])
    with pytest.raises(CorruptedData, match=r"footer: expected the bytes of Shard\.footer, found \d+ others"):
        amudai.open(NAME, store=store, footer=footer[:-1])
    with pytest.raises(InvalidArgument, match="footer: expected bytes"):
        amudai.open(NAME, store=store, footer="text")  # type: ignore[arg-type]


def test_a_footer_of_a_local_shard_notices_another_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    footer = amudai.write(table(1000), path).footer
    assert amudai.open(path, footer=footer).read().equals(table(1000))
    amudai.write(table(1000, 7), path, overwrite=True)
    with pytest.raises(ReplacedFile):
        amudai.open(path, footer=footer).read()


# ---- writing ----


@pytest.mark.slow
def test_urls_and_the_command_line(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_environment().items():
        monkeypatch.setenv(name, value)
    folder = f"s3://{BUCKET}/{prefix}"
    lake = amudai.write_dataset(table(300), folder, rows_per_shard=150, indexes=INDEXES)
    assert (len(lake.shards), lake.num_rows) == (2, 300)
    lake.save_catalog()
    lake.save_catalog()  # replaces the first
    assert amudai.dataset(folder).explain(where="n = 7").shards_ruled_out == {"catalog": 1}
    command = [sys.executable, "-c", "from amudai.cli import main; main()", "search", "user13", f"{folder}/", "--count"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1] == "3"
    sent = pickle.loads(pickle.dumps(amudai.dataset(folder)))
    assert sent.read().equals(table(300))
    web = f"{s3_endpoint()}/{BUCKET}/{prefix}/{lake.shards[0]}"
    assert amudai.open(web).read(["n"]).equals(table(150).select(["n"]))


def test_pyarrow_reads_the_same_bucket(content: bytes, prefix: str) -> None:
    s3_store(prefix=prefix).put(NAME, content)
    address = s3_endpoint().removeprefix("http://")
    files = pyarrow.fs.S3FileSystem(access_key=KEY, secret_key=SECRET, endpoint_override=address, scheme="http")
    shard = amudai.open(f"{BUCKET}/{prefix}/{NAME}", store=files)
    assert shard.take([3, 19_999], ["n"]).to_pydict() == {"n": [3, 19_999]}


def test_one_of_two_overwriting_writers_wins(prefix: str, store_at: Callable[..., Any]) -> None:
    objects = store_at(prefix=prefix)
    amudai.write(table(10), NAME, store=objects)
    first, second = (
        amudai.ShardWriter(NAME, table(1).schema, store=store_at(prefix=prefix), overwrite=True) for _ in range(2)
    )
    first.write(table(20))
    second.write(table(30))
    first.close()
    with pytest.raises(ReplacedFile, match="it was replaced"):
        second.close()
    assert amudai.open(NAME, store=objects).num_rows == 20
    with pytest.raises(FileExistsError):
        amudai.write(table(1), NAME, store=objects)


def test_a_reader_notices_that_its_shard_was_overwritten(prefix: str, store_at: Callable[..., Any]) -> None:
    objects = store_at(prefix=prefix)
    # Both have the same shape, so that blocks of the one lie where those of the other were.
    shard = amudai.write(table(70_000), NAME, store=objects, profile="plain", bloom=[])
    amudai.write(table(70_000, 1), NAME, store=objects, profile="plain", overwrite=True)
    with pytest.raises(ReplacedFile):
        shard.read(["n"])


@pytest.mark.slow
def test_rows_are_appended_by_several_writers_at_a_time(prefix: str) -> None:
    amudai.write(table(10), NAME, store=s3_store(prefix=prefix), indexes=INDEXES)

    def append(number: int) -> None:
        amudai.append(NAME, table(10, 10 * number), store=s3_store(prefix=prefix))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(append, range(1, 4)))
    shard = amudai.open(NAME, store=s3_store(prefix=prefix))
    assert sorted(shard.read(["n"])["n"].to_pylist()) == list(range(40))
    assert shard.count(amudai.col("text").has("user13")) == 1
    assert shard.verify().ok
    names = {each["path"] for each in s3_store(prefix=prefix).list().collect()}
    assert names == {file.url for file in shard.files}


# ---- faults ----


def reading(endpoint: str, prefix: str, patience: float = 60) -> tuple[list[int], list[dict[str, Any]]]:
    """A search and a read by a store that tries again, and gives up waiting for an answer after some seconds."""
    client = {"timeout": timedelta(seconds=patience)}
    store = s3_store(endpoint, prefix=prefix, retry_config=QUICK, client_options=client)
    shard = amudai.open(NAME, store=store, threads=2)
    return shard.scan(where=amudai.col("text").has("user13")).positions().tolist(), shard.read(["n"]).to_pylist()


@pytest.mark.parametrize("fault", ["error", "reset", "cut", "slow"])
def test_a_request_that_fails_is_made_again(content: bytes, prefix: str, fault: Fault) -> None:
    s3_store(prefix=prefix).put(NAME, content)
    expected = list(range(13, ROWS, 97)), table().select(["n"]).to_pylist()
    due = {1, 4} if fault == "slow" else {1, 3, 4, 6}
    with proxy(s3_endpoint(), lambda request: fault if request.number in due else None) as broken:
        assert reading(broken.endpoint, prefix, SLOW_SECONDS / 2 if fault == "slow" else 60) == expected
        assert len(broken.requests) > max(due)


@pytest.mark.parametrize("fault", ["error", "reset", "cut"])
def test_a_server_that_always_fails_is_one_clear_error(content: bytes, prefix: str, fault: Fault) -> None:
    s3_store(prefix=prefix).put(NAME, content)
    with proxy(s3_endpoint(), lambda _: fault) as broken, pytest.raises(StorageError) as caught:
        reading(broken.endpoint, prefix)
    assert caught.value.filename == NAME
    printed = "".join(traceback.format_exception(caught.value))
    assert SECRET not in printed
    assert "Signature" not in printed


@pytest.mark.parametrize("fault", ["lost", "error", "reset"])
def test_a_put_whose_answer_is_lost_has_succeeded(prefix: str, store_at: Callable[..., Any], fault: Fault) -> None:
    puts: list[str] = []

    def once(request: Request) -> Fault | None:
        if request.method != "PUT" or request.path in puts:
            return None
        puts.append(request.path)
        return fault

    with proxy(s3_endpoint() if store_at is s3_store else gcs_endpoint(), once) as broken:
        store = store_at(broken.endpoint, prefix=prefix, retry_config=QUICK)
        if fault == "reset":
            # The request may or may not have arrived. It did not, and a put is not repeated blindly.
            with pytest.raises(StorageError):
                amudai.write(table(10), NAME, store=store)
            assert not store_at(prefix=prefix).list().collect()
            return
        amudai.write(table(10), NAME, store=store)
        puts.clear()
        amudai.write(table(20), NAME, store=store, overwrite=True)
        assert amudai.open(NAME, store=store).num_rows == 20
    assert len(puts) == 1
    with pytest.raises(FileExistsError):
        amudai.write(table(10), NAME, store=store_at(prefix=prefix))


# ---- the cache ----


@pytest.fixture
def objects(content: bytes, prefix: str) -> ObjectStore:
    store = s3_store(prefix=prefix)
    store.put(NAME, content)
    return ObjectStore(store)


def read_all(store: CachedStore) -> tuple[pa.Table, int]:
    """All rows, and the requests that they took."""
    before = store.counters.requests
    with amudai.open(NAME, store=store) as shard:
        assert shard.count(amudai.col("text").has("user13")) == len(range(13, ROWS, 97))
        return shard.read(), store.counters.requests - before


def test_blocks_are_kept_on_disk(objects: ObjectStore, prefix: str, tmp_path: Path) -> None:
    first, second = (CachedStore(objects, tmp_path / "cache", "10MB", name=prefix) for _ in range(2))
    found, requests = read_all(first)
    assert found.equals(table())
    assert requests > 1
    found, requests = read_all(second)
    assert found.equals(table())
    assert requests == 1  # the end of the root file: is it still the same?
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0
    # A shard of the same name that is new is read, not its old blocks.
    amudai.write(table(ROWS, 5), NAME, store=second, indexes=INDEXES, stripe_rows=5_000, overwrite=True)
    assert amudai.open(NAME, store=second).read().equals(table(ROWS, 5))
    with pytest.raises(InvalidArgument, match="name: expected one that tells the files of the store from others"):
        CachedStore(objects, tmp_path / "cache", "10MB")


def test_a_damaged_block_is_read_again(objects: ObjectStore, prefix: str, tmp_path: Path) -> None:
    store = CachedStore(objects, tmp_path, "10MB", name=prefix)
    read_all(store)
    blocks = list(tmp_path.glob("*/*.block"))
    for number, block in enumerate(blocks):
        damaged = bytearray(block.read_bytes())
        damaged[number % len(damaged)] ^= 1
        block.write_bytes(damaged[: None if number % 2 else 100])
    found, requests = read_all(store)
    assert found.equals(table())
    assert requests > 1
    assert read_all(store)[1] == 1


def test_the_folder_keeps_to_its_limit(objects: ObjectStore, prefix: str, tmp_path: Path) -> None:
    limit = 200_000
    store = CachedStore(objects, tmp_path, limit, name=prefix)
    assert objects.size(NAME) > 2 * limit
    for _ in range(2):
        assert read_all(store)[0].equals(table())
        used = sum(block.stat().st_size for block in tmp_path.glob("*/*"))
        assert limit / 2 < used <= limit


OTHER_PROCESS = """
import pickle, sys
import amudai
store = pickle.loads(sys.stdin.buffer.read()).open()
with amudai.open(sys.argv[1], store=store) as shard:
    print(shard.read().num_rows, store.counters.requests)
"""


@pytest.mark.slow
def test_processes_share_the_folder(content: bytes, tmp_path: Path) -> None:
    import obstore.store

    (tmp_path / NAME).write_bytes(content)
    store = CachedStore(obstore.store.LocalStore(tmp_path), tmp_path / "cache", "10MB")
    sent = pickle.dumps(store.portable())
    command = [sys.executable, "-c", OTHER_PROCESS, NAME]
    printed = [subprocess.run(command, input=sent, capture_output=True, check=True).stdout.split() for _ in range(2)]
    assert [rows for rows, _ in printed] == [b"%d" % ROWS] * 2
    assert int(printed[0][1]) > 1
    assert int(printed[1][1]) == 1
    assert read_all(store)[0].equals(table())


def test_the_environment_names_a_folder(prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AMUDAI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AMUDAI_CACHE_SIZE", "5MB")
    url = f"s3://{BUCKET}/{prefix}/{NAME}"
    amudai.write(table(70_000), url, profile="plain")
    assert amudai.open(url).read(["n"]).num_rows == 70_000
    again = amudai.open(url)
    assert again.read(["n"]).num_rows == 70_000
    assert again.requests.requests == 1
    assert pickle.loads(pickle.dumps(again)).num_rows == 70_000
    assert not any(SECRET.encode() in path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())


# ---- secrets ----


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_secrets_stay_where_they_are(content: bytes, prefix: str, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENTS[scheme]().items():
        monkeypatch.setenv(name, value)
    store_at = s3_store if scheme == "s3" else gcs_store
    store_at(prefix=prefix).put(NAME, content)
    shard = amudai.open(f"{scheme}://{BUCKET}/{prefix}/{NAME}")
    scan = shard.scan(where=amudai.col("text").has("user13"))
    said = [repr(shard), shard.url, str(scan.explain()), repr(scan.explain()), str(shard.requests)]
    lake = amudai.dataset(f"{scheme}://{BUCKET}/{prefix}/")
    said += [repr(lake), str(lake.explain(where="n = 7"))]
    handles = [shard, *scan.tasks(), lake, *lake.scan(where="n = 7").tasks()]
    handles += [shard.to_pyarrow_dataset(), lake.to_pyarrow_dataset(), *lake.to_pyarrow_dataset().tasks(["n"])]
    said += [str(pickle.dumps(each)) for each in handles]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(StorageError) as caught:
        amudai.open(NAME, store=store_at("http://127.0.0.1:1", prefix=prefix, retry_config=NEVER))
    said.append("".join(traceback.format_exception(caught.value)))
    for text in said:
        assert SECRET not in text
        assert KEY not in text


def test_signatures_in_urls_are_not_repeated() -> None:
    class Signed(ObjectStore):
        def _size(self, url: str) -> int:
            with translated():
                raise ValueError(f"GET https://acme.blob.core.windows.net/box/a?sv=1&sig={SECRET} failed")

    with pytest.raises(StorageError) as caught:
        Signed(s3_store()).size("a")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert "https://acme.blob.core.windows.net/box/a?*** failed" in str(caught.value)
