"""The command `inspect`: show how a shard is laid out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from amudai import BufferLayout, FieldLayout, ShardLayout, StripeLayout
from amudai.asking import count_text, json_value, size_text
from amudai.cli.guard import FAILED, OK, error_line
from amudai.cli.options import Allow, Json, Location, opened
from amudai.cli.terminal import output, print_json

__all__ = ["run"]

# Limits of the tree for people. JSON has everything.
_MOST_STRIPES = 20
_MOST_BLOCKS = 64


def run(
    location: Location,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show buffers and blocks.")] = False,
    stripe: Annotated[int | None, typer.Option("--stripe", help="Show only this stripe.", min=0)] = None,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Show how a shard is laid out: stripes, fields, encodings and sizes; with -v also buffers and blocks."""
    stripes = None if stripe is None else [stripe]
    with opened(location, allow) as shard:
        count = len(shard.stripes)
        layout = shard.inspect(stripes=stripes, encodings=True, blocks=verbose)
    if json:
        print_json(_document(layout, verbose))
    else:
        output().print(_tree(layout, count, verbose))
    for problem in layout.problems[:1]:
        error_line(" ".join(problem.message.split()))
    return FAILED if layout.problems else OK


# ---- JSON ----


def _document(layout: ShardLayout, verbose: bool) -> dict[str, Any]:
    return {
        "shard": layout.url,
        "rows": layout.num_rows,
        "deleted": layout.num_positions - layout.num_rows,
        "bytes": layout.size,
        "created": None if layout.created is None else [each.isoformat() for each in layout.created],
        "properties": json_value(layout.properties),
        "stripes": [
            {
                "ordinal": stripe.ordinal,
                "first_row": stripe.first_row,
                "rows": stripe.num_rows,
                "deleted": stripe.num_positions - stripe.num_rows,
                "bytes": stripe.bytes,
                "fields": [_field_document(field, verbose) for field in stripe.fields],
            }
            for stripe in layout.stripes
        ],
        "indexes": [json_value(asdict(index)) for index in layout.indexes],
    }


def _field_document(field: FieldLayout, verbose: bool) -> dict[str, Any]:
    found = {
        "name": field.name,
        "type": field.type,
        "bytes": field.bytes,
        "encodings": field.encodings,
        "buffers": [asdict(buffer) for buffer in field.buffers] if verbose else [],
        "children": [_field_document(child, verbose) for child in field.children],
    }
    return found if field.problem is None else {**found, "problem": field.problem.message}


# ---- a tree ----


def _tree(layout: ShardLayout, count: int, verbose: bool) -> Tree:
    name = layout.url.rsplit("/", 1)[-1]
    counts = f"{count_text(layout.num_rows, 'row')}{_deleted(layout)}, {count_text(count, 'stripe')}"
    tree = Tree(Text.assemble((name, "bold"), f": {counts}, {size_text(layout.size)}"), guide_style="dim")
    if layout.created is not None:
        times = [f"{each:%Y-%m-%d %H:%M:%S} UTC" for each in dict.fromkeys(layout.created)]
        tree.add(Text(f"created {' to '.join(times)}"))
    for key, value in layout.properties.items():
        tree.add(Text(f"property {key} = {json_value(value)}"))
    for stripe in layout.stripes[:_MOST_STRIPES]:
        _add_stripe(tree, stripe, verbose)
    if len(layout.stripes) > _MOST_STRIPES:
        tree.add(Text(f"… {len(layout.stripes) - _MOST_STRIPES:,} more stripes (--stripe N shows one)", style="dim"))
    for index in layout.indexes:
        size = "?" if index.size is None else size_text(index.size)
        place = "" if index.stripe is None else f" of stripe {index.stripe}"
        tree.add(Text.assemble("index ", (index.type, "cyan"), f"{place} over {', '.join(index.fields)}, {size}"))
    if len(layout.stripes) == count and not layout.problems:
        parts = sum(stripe.bytes for stripe in layout.stripes) + sum(index.size or 0 for index in layout.indexes)
        tree.add(Text(f"metadata, {size_text(layout.size - parts)}"))
    return tree


def _add_stripe(tree: Tree, stripe: StripeLayout, verbose: bool) -> None:
    rows = f"rows {stripe.rows.start:,}..{stripe.rows.stop:,}{_deleted(stripe)}"
    branch = tree.add(Text.assemble((f"stripe {stripe.ordinal}", "bold"), f": {rows}, {size_text(stripe.bytes)}"))
    widths = _widths(stripe.fields, 0)
    for field in stripe.fields:
        _add_field(branch, field, 0, widths, verbose)


def _deleted(layout: ShardLayout | StripeLayout) -> str:
    gone = layout.num_positions - layout.num_rows
    return f", {gone:,} deleted" if gone else ""


def _widths(fields: tuple[FieldLayout, ...], depth: int) -> tuple[int, int]:
    """The widths of names, with the guides of the tree before them, and of types."""
    found = [(len(field.name) + 4 * depth, len(_type(field))) for field in fields]
    found += [_widths(field.children, depth + 1) for field in fields if field.children]
    return max((each[0] for each in found), default=0), max((each[1] for each in found), default=0)


def _type(field: FieldLayout) -> str:
    return field.type.split("<", 1)[0] if field.children else field.type


def _add_field(tree: Tree, field: FieldLayout, depth: int, widths: tuple[int, int], verbose: bool) -> None:
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{field.name:<{widths[0] - 4 * depth}}", style="bold")
    line.append(f"  {_type(field):<{widths[1]}}  ", style="cyan")
    line.append(f"{'?' if field.problems else size_text(field.bytes):>8}  ")
    plans = [f"{plan} x{blocks}" if blocks > 1 else plan for plan, blocks in (field.encodings or {}).items()]
    line.append(", ".join(plans[:3]) + (f", … {len(plans) - 3} more" if len(plans) > 3 else ""), style="green")
    if field.problem is not None:
        line.append(f"unreadable: {field.problem.error.message}", style="red")
    branch = tree.add(line)
    for buffer in field.buffers if verbose else ():
        _add_buffer(branch, buffer)
    for child in field.children:
        _add_field(branch, child, depth + 1, widths, verbose)


def _add_buffer(tree: Tree, buffer: BufferLayout) -> None:
    blocks = f", {count_text(buffer.block_count, 'block')}" if buffer.block_count else ""
    branch = tree.add(Text(f"{buffer.kind}: {size_text(buffer.bytes)} at {buffer.start:,}{blocks}"))
    for block in buffer.blocks[:_MOST_BLOCKS]:
        values = f"values {block.first_value:,}..{block.first_value + block.values:,}"
        text = f"{block.ordinal:>4}  {values}  {size_text(block.bytes)} at {block.start:,}  "
        branch.add(Text.assemble(text, (block.encoding, "green"), no_wrap=True, overflow="ellipsis"))
    if len(buffer.blocks) > _MOST_BLOCKS:
        branch.add(Text(f"… {len(buffer.blocks) - _MOST_BLOCKS:,} more blocks (--json lists them)", style="dim"))
