"""What is inside a shard?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from amudai.api import Shard
from amudai.cli.layout import FieldLayout, StripeLayout, layout_of
from amudai.cli.options import Json, Location, opened
from amudai.cli.shares import shares_of
from amudai.cli.terminal import count_text, output, print_json, size_text
from amudai.cli.values import json_value
from amudai.column import BufferLayout

__all__ = ["run"]

# Of a tree for people; machines get everything.
_MOST_STRIPES = 20
_MOST_BLOCKS = 64


def run(
    location: Location,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Down to the blocks of each buffer.")] = False,
    stripe: Annotated[int | None, typer.Option("--stripe", help="Only this stripe.", min=0)] = None,
    json: Json = False,
) -> int:
    """Show the tree of a shard: stripes, fields, encodings, bytes; with -v down to the blocks."""
    with opened(location) as shard:
        stripes = layout_of(shard, stripe=stripe, blocks=verbose)
        if json:
            print_json(
                {
                    "shard": shard.url,
                    "rows": shard.num_rows,
                    "bytes": shard.size,
                    "properties": json_value(shard.properties),
                    "stripes": [asdict(each) for each in stripes],
                    "indexes": [json_value(asdict(each)) for each in shard.indexes],
                }
            )
        else:
            output().print(_tree(shard, stripes))
    return 0


def _tree(shard: Shard, stripes: list[StripeLayout]) -> Tree:
    name = shard.url.rsplit("/", 1)[-1]
    counts = f"{count_text(shard.num_rows, 'row')}, {count_text(len(shard.stripes), 'stripe')}"
    tree = Tree(Text.assemble((name, "bold"), f": {counts}, {size_text(shard.size)}"), guide_style="dim")
    for key, value in shard.properties.items():
        tree.add(Text(f"property {key} = {json_value(value)}"))
    for stripe in stripes[:_MOST_STRIPES]:
        rows = f"rows {stripe.first_row:,}..{stripe.first_row + stripe.rows:,}"
        branch = tree.add(Text.assemble((f"stripe {stripe.ordinal}", "bold"), f": {rows}, {size_text(stripe.bytes)}"))
        widths = _widths(stripe.fields, 0)
        for field in stripe.fields:
            _add_field(branch, field, 0, widths)
    if len(stripes) > _MOST_STRIPES:
        tree.add(Text(f"… {len(stripes) - _MOST_STRIPES:,} more stripes (--stripe N shows one)", style="dim"))
    for index in shard.indexes:
        size = "?" if index.size is None else size_text(index.size)
        place = "" if index.stripe is None else f" of stripe {index.stripe}"
        tree.add(Text.assemble("index ", (index.type, "cyan"), f"{place} over {', '.join(index.fields)}, {size}"))
    metadata = shares_of(shard)[-1].bytes
    tree.add(Text(f"metadata, {size_text(metadata)}"))
    return tree


def _widths(fields: tuple[FieldLayout, ...], depth: int) -> tuple[int, int]:
    """How wide names, with the guides of a tree before them, and types are."""
    found = [(len(field.name) + 4 * depth, len(_type(field))) for field in fields]
    found += [_widths(field.children, depth + 1) for field in fields if field.children]
    return max((each[0] for each in found), default=0), max((each[1] for each in found), default=0)


def _type(field: FieldLayout) -> str:
    return field.type.split("<", 1)[0] if field.children else field.type


def _add_field(tree: Tree, field: FieldLayout, depth: int, widths: tuple[int, int]) -> None:
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{field.name:<{widths[0] - 4 * depth}}", style="bold")
    line.append(f"  {_type(field):<{widths[1]}}  ", style="cyan")
    line.append(f"{size_text(field.bytes):>8}  ")
    plans = [f"{plan} x{blocks}" if blocks > 1 else plan for plan, blocks in field.encodings.items()]
    line.append(", ".join(plans[:3]) + (f", … {len(plans) - 3} more" if len(plans) > 3 else ""), style="green")
    branch = tree.add(line)
    for buffer in field.buffers:
        _add_buffer(branch, buffer)
    for child in field.children:
        _add_field(branch, child, depth + 1, widths)


def _add_buffer(tree: Tree, buffer: BufferLayout) -> None:
    blocks = f", {count_text(buffer.block_count, 'block')}" if buffer.block_count else ""
    branch = tree.add(Text(f"{buffer.kind}: {size_text(buffer.bytes)} at {buffer.start:,}{blocks}"))
    for block in buffer.blocks[:_MOST_BLOCKS]:
        values = f"values {block.first_value:,}..{block.first_value + block.values:,}"
        text = f"{block.ordinal:>4}  {values}  {size_text(block.bytes)} at {block.start:,}  "
        branch.add(Text.assemble(text, (block.encoding, "green"), no_wrap=True, overflow="ellipsis"))
    if len(buffer.blocks) > _MOST_BLOCKS:
        branch.add(Text(f"… {len(buffer.blocks) - _MOST_BLOCKS:,} more blocks (--json lists them)", style="dim"))
