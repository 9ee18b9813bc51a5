"""The commands `tag` and `branch`: list, create, rename and delete."""

from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import (
    CommandGroup,
    command,
    confirm_options,
    confirmed,
    main_group,
)
from paimon_explore.command_line.options import opened_table, output_options
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.metadata.tag import Tag
    from paimon_explore.table.table import Table

_TAG_COLUMNS = {
    "tag_name": "tag",
    "snapshot_id": "snapshot",
    "commit_time": "local time",
    "schema_id": "schema",
    "record_count": "stored rows",
    "create_time": "created",
    "time_retained": "retained",
}


@main_group.group("tag", cls=CommandGroup)
def tag_group() -> None:
    """List, create, rename and delete tags: names for snapshots, which keep their files."""


@main_group.group("branch", cls=CommandGroup)
def branch_group() -> None:
    """List, create, rename and delete branches, or fast-forward to one."""


@command(tag_group, "list")
@opened_table
@output_options
def list_tags(*, table: "Table", output: "Output") -> None:
    """List the tags.

    Examples:
        tag list wh/demo.db/trips
        tag list demo.trips -w wh --json
    """
    rows = table.inspect.tags()
    output.listing(rows, columns=_TAG_COLUMNS, noun="tag")


@command(tag_group, "create")
@opened_table
@click.argument("tag")
@click.option("--snapshot", type=int, metavar="ID", help="The snapshot; by default the latest.")
@click.option("--retain", metavar="AGE", help="How long the tag is kept, such as '7 d'.")
@click.option("--replace", is_flag=True, help="Move a tag that exists.")
@output_options
def create_tag(
    *,
    table: "Table",
    tag: str,
    snapshot: int | None,
    retain: str | None,
    replace: bool,
    output: "Output",
) -> None:
    """Create a tag.

    Examples:
        tag create wh/demo.db/orders v1
        tag create demo.orders v2 -w wh --snapshot 3 --retain '7 d' --json
    """
    create = table.maintenance.replace_tag if replace else table.create_tag
    _print_tag(create(tag, snapshot, retained=retain), output)


def _print_tag(tag: "Tag", output: "Output") -> None:
    text = f"Tag {tag.name!r} is snapshot {tag.snapshot.id}."
    output.document({"tag": tag.name, "snapshot_id": tag.snapshot.id}, text)


@command(tag_group, "rename")
@opened_table
@click.argument("tag")
@click.argument("new_name")
@output_options
def rename_tag(*, table: "Table", tag: str, new_name: str, output: "Output") -> None:
    """Rename a tag.

    Examples:
        tag rename wh/demo.db/trips before start
    """
    _print_tag(table.maintenance.rename_tag(tag, new_name), output)


@command(tag_group, "delete")
@opened_table
@click.argument("tag")
@confirm_options
@output_options
def delete_tag(
    *, table: "Table", tag: str, is_confirmed: bool, is_dry_run: bool, output: "Output"
) -> None:
    """Delete a tag, and the files that no snapshot and no other tag needs.

    Examples:
        tag delete wh/demo.db/trips before --dry-run
        tag delete demo.trips before -w wh --yes
    """
    found = table.tags[tag]
    document = {"tag": tag, "snapshot_id": found.snapshot.id}
    what = f"tag {tag!r} of snapshot {found.snapshot.id}"
    if is_dry_run:
        is_kept = found.snapshot.id in table.snapshots
        needed = "its files stay" if is_kept else "files that only it needs go with it"
        output.document({**document, "deleted": False}, f"Would delete {what}; {needed}.")
        return
    confirmed(sanitized(f"{table.name}: delete {what}?"), is_confirmed=is_confirmed)
    removed = table.delete_tag(tag)
    text = f"Deleted {what}; removed {removed!r}."
    output.document({**document, "deleted": True, "files": len(removed)}, text)


@command(branch_group, "list")
@opened_table
@output_options
def list_branches(*, table: "Table", output: "Output") -> None:
    """List the branches other than main.

    Examples:
        branch list wh/demo.db/trips
        branch list demo.trips -w wh --csv
    """
    output.listing(table.inspect.branches(), noun="branch")


@command(branch_group, "create")
@opened_table
@click.argument("name_of_branch", metavar="BRANCH")
@click.option("--tag", metavar="NAME", help="Where it starts; by default without rows.")
@output_options
def create_branch(
    *, table: "Table", name_of_branch: str, tag: str | None, output: "Output"
) -> None:
    """Create a branch, from the snapshot of a tag or empty.

    Examples:
        branch create wh/demo.db/trips trial
        branch create demo.trips trial -w wh --tag before
    """
    table.create_branch(name_of_branch, tag)
    start = "without rows; --tag starts it at a tag" if tag is None else f"from tag {tag!r}"
    text = f"Created branch {name_of_branch!r} {start}."
    output.document({"branch": name_of_branch, "tag": tag}, text)


@command(branch_group, "rename")
@opened_table
@click.argument("name_of_branch", metavar="BRANCH")
@click.argument("new_name")
@output_options
def rename_branch(*, table: "Table", name_of_branch: str, new_name: str, output: "Output") -> None:
    """Rename a branch.

    Examples:
        branch rename wh/demo.db/trips draft plan
    """
    table.maintenance.rename_branch(name_of_branch, new_name)
    text = f"Branch {name_of_branch!r} is now {new_name!r}."
    output.document({"branch": new_name}, text)


@command(branch_group, "delete")
@opened_table
@click.argument("name_of_branch", metavar="BRANCH")
@confirm_options
@output_options
def delete_branch(
    *, table: "Table", name_of_branch: str, is_confirmed: bool, is_dry_run: bool, output: "Output"
) -> None:
    """Delete a branch; `orphans` removes the files that only it needed.

    Examples:
        branch delete wh/demo.db/trips draft --dry-run
        branch delete demo.trips draft -w wh --yes
    """
    found = table.branches[name_of_branch]
    if is_dry_run:
        document = {"branch": found, "deleted": False}
        output.document(document, f"Would delete branch {found!r}.")
        return
    confirmed(sanitized(f"{table.name}: delete branch {found!r}?"), is_confirmed=is_confirmed)
    table.delete_branch(found)
    output.document({"branch": found, "deleted": True}, f"Deleted branch {found!r}.")


@command(branch_group, "fast-forward")
@opened_table
@click.argument("name_of_branch", metavar="BRANCH")
@confirm_options
@output_options
def fast_forward(
    *, table: "Table", name_of_branch: str, is_confirmed: bool, is_dry_run: bool, output: "Output"
) -> None:
    """Replace the main branch by a branch; later snapshots of main are removed.

    Examples:
        branch fast-forward wh/demo.db/trips draft --dry-run
        branch fast-forward demo.trips draft -w wh --yes
    """
    found = table.branches[name_of_branch]
    what = f"the main branch by branch {found!r}"
    if is_dry_run:
        output.document({"branch": found, "replaced": False}, f"Would replace {what}.")
        return
    confirmed(sanitized(f"{table.name}: replace {what}?"), is_confirmed=is_confirmed)
    table.fast_forward(found)
    output.document({"branch": found, "replaced": True}, f"Replaced {what}.")
