"""ripgrep over the text column, one value a line, compressed by zstd: what people do who keep logs as files."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .base import NotSupported, System


class Ripgrep(System):
    name = "ripgrep-zstd"
    ext = ".txt.zst"
    index_only = True

    @classmethod
    def missing(cls):
        absent = [tool for tool in ("rg", "zstd") if not shutil.which(tool)]
        return f"{' and '.join(absent)} not found (packages ripgrep and zstd)" if absent else ""

    def version(self):
        said = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True).stdout
        return said.splitlines()[0]

    def write(self, table, path, text=None):
        if not text:
            raise NotSupported("no text column")
        column = table[text]
        if pc.any(pc.match_substring_regex(column, "[\n\r]")).as_py():
            raise NotSupported("values of several lines")
        command = ["zstd", "-q", "-f", f"-T{self.threads or 0}", "-o", path]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            for chunk in column.chunks:
                for at in range(0, len(chunk), 65536):
                    part = pc.fill_null(chunk.slice(at, 65536), "")
                    lines = pc.binary_join_element_wise(part, pa.scalar("\n"), "").cast(pa.binary())
                    ends = np.frombuffer(lines.buffers()[1], np.int32)[lines.offset :][[0, len(lines)]]
                    process.stdin.write(memoryview(lines.buffers()[2])[ends[0] : ends[1]])
            process.stdin.close()
        if process.returncode:
            raise OSError(f"zstd ended with {process.returncode}")

    def open(self, path):
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        return path

    def search(self, h, column, terms):
        """Lines with the first word, and those of them with the others: ripgrep has no *and*."""
        first = ["rg", "-z", "-j", str(self.threads or 0), "--no-config", "-n", "-I", "-F", "-w", "--", terms[0], h]
        return self._numbers(first, terms[1:])

    def contains(self, h, column, part):
        return self._numbers(
            ["rg", "-z", "-j", str(self.threads or 0), "--no-config", "-n", "-I", "-F", "--", part, h], []
        )

    def _numbers(self, command, more):
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode > 1:
            raise OSError(f"rg ended with {done.returncode}")
        lines = done.stdout
        for word in more:
            again = ["rg", "--no-config", "-I", "-F", "-w", "--", word, "-"]
            lines = subprocess.run(again, input=lines, stdout=subprocess.PIPE, check=False).stdout
        return np.array([int(line[: line.index(b":")]) - 1 for line in lines.splitlines()], np.int64)


SYSTEMS = [Ripgrep]
