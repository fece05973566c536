"""Tantivy: a full-text index of one column beside the data; answers search() only."""

from __future__ import annotations

import os
import shutil

import numpy as np

from .base import NotSupported, System


class Tantivy(System):
    package = "tantivy"
    name = "tantivy"
    ext = ".tantivy"
    index_only = True

    def __init__(self, threads):
        super().__init__(threads)
        import tantivy

        self.tv = tantivy

    def version(self):
        return f"tantivy {self.tv.__version__}"

    def write(self, table, path, text=None):
        if not text:
            raise NotSupported("no text column")
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        sb = self.tv.SchemaBuilder()
        sb.add_unsigned_field("row", stored=False, indexed=False, fast=True)
        sb.add_text_field("text", stored=False, tokenizer_name="default", index_option="basic")
        schema = sb.build()
        w = self.tv.Index(schema, path=path).writer(heap_size=256_000_000, num_threads=self.threads or 0)
        Doc, row = self.tv.Document, 0
        for chunk in table[text].chunks:
            for off in range(0, len(chunk), 65536):
                for s in chunk.slice(off, 65536).to_pylist():
                    d = Doc()
                    d.add_unsigned("row", row)
                    if s is not None:
                        d.add_text("text", s)
                    w.add_document(d)
                    row += 1
        w.commit()
        w.wait_merging_threads()

    def open(self, path):
        ix = self.tv.Index.open(path)
        return ix, ix.searcher()

    def search(self, h, column, terms):
        ix, s = h
        tv, Q = self.tv, self.tv.Query
        parts = [Q.term_query(ix.schema, "text", t, index_option="basic") for t in terms]
        q = parts[0] if len(parts) == 1 else Q.boolean_query([(tv.Occur.Must, p) for p in parts])
        # "all rows": Q.const_score_query avoids BM25
        hits = s.search(Q.const_score_query(q, 1.0), limit=max(1, s.num_docs), count=False).hits
        return np.sort(np.array(s.fast_field_values("row", [a for _, a in hits]), dtype=np.int64))

    def contains(self, h, column, part):
        raise NotSupported("parts of words")


SYSTEMS = [Tantivy]
