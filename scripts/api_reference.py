"""Writes docs/api.md, the reference of the HTTP API, from its own description; `--check` only compares."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import segue
from segue.http.app import create_app
from segue.http.settings import Settings

TARGET = Path(__file__).parents[1] / "docs" / "api.md"
HEAD = """# HTTP API

<!-- Written by scripts/api_reference.py; change the routes, then run `make docs`. -->

What `segue server run` answers. A running server tells the same to programs, as OpenAPI, at `/openapi.json`.

Routes take `Authorization: Bearer TOKEN`, but for those marked *public*. Bodies are JSON, of the media type
`application/json`. Errors are `{"error", "code", "details"}`: a message for people, a stable code for programs, and
values that go with it. What is not the caller's to see is answered as if it were not there.

"""
_ANYWHERE = {"401", "403", "429", "503"}  # said once, above the routes
_PLAIN = {"Done", "Successful Response"}


def description() -> dict[str, Any]:
    """Return the API's description in OpenAPI, of a server over an empty store."""
    with tempfile.TemporaryDirectory() as folder, segue.open(Path(folder) / "segue.db") as store:
        return create_app(Settings(), store).openapi()


def render() -> str:
    """Return the reference as Markdown: routes by their group, then the shapes that they name."""
    found = description()
    groups: dict[str, list[str]] = {}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(method.upper(), path, operation))
    lines = [HEAD + _statuses(found)]
    for name, routes in groups.items():
        lines += [f"## {_title(name)}\n", *routes]
    lines.append("## Shapes\n")
    lines += [_shape(name, each) for name, each in sorted(found["components"]["schemas"].items())]
    return "\n".join(lines).rstrip("\n") + "\n"


def _statuses(found: dict[str, Any]) -> str:
    """Say once what the statuses of errors mean; a route then names the numbers alone."""
    reasons: dict[str, str] = {}
    for operations in found["paths"].values():
        for operation in operations.values():
            errors = {status: each["description"] for status, each in operation["responses"].items() if status >= "400"}
            reasons = errors | reasons
    lines = [f"| {status} | {_text(reason)} |" for status, reason in sorted(reasons.items())]
    always = (
        "Any route but those for operators may answer 429 (`Retry-After` says when to come back) and 503; any that "
        "takes a token 401 and 403."
    )
    return "\n".join(["| Status | |", "|---|---|", *lines, "", always, ""])


def _title(group: str) -> str:
    return group.upper() if group == "mcp" else group.capitalize()


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    public = "" if operation.get("security") else " *Public.*"
    lines = [f"### {method} {path}\n", f"{_text(operation.get('description') or operation['summary'])}{public}\n"]
    rows = [_parameter(each) for each in operation.get("parameters", ())]
    rows += _body(operation.get("requestBody", {}))
    if rows:
        lines += ["| | | |", "|---|---|---|", *rows, ""]
    lines += [_answers(operation["responses"]), ""]
    return "\n".join(lines)


def _parameter(each: dict[str, Any]) -> str:
    schema = each.get("schema", {})
    said = [_text(each.get("description") or schema.get("description") or "")]
    if "default" in schema and schema["default"] not in (None, "", [], False):
        said.append(f"Default: {schema['default']}.")
    place = {"query": "", "path": " (path)", "header": " (header)", "body": " (body)"}[each["in"]]
    needed = ", required" if each.get("required") and each["in"] != "path" else ""
    return f"| `{each['name']}`{place} | {_type(schema)}{needed} | {' '.join(filter(None, said))} |"


def _body(body: dict[str, Any]) -> list[str]:
    """The rows of a body: one for each of its members, or one for all of it."""
    contents: list[dict[str, Any]] = list(body.get("content", {}).values())
    if not contents:
        return []
    schema = contents[0]["schema"]
    if "properties" not in schema:
        return [f"| body | {_type(schema)} | {_text(schema.get('description', ''))} |"]
    needed = schema.get("required", ())
    parameters = [
        {"name": name, "in": "body", "required": name in needed, "schema": each}
        for name, each in schema["properties"].items()
    ]
    return [_parameter(each) for each in parameters]


def _answers(responses: dict[str, Any]) -> str:
    good = [_good(status, each) for status, each in sorted(responses.items()) if status < "400"]
    bad = sorted(status for status in responses if status >= "400" and status not in _ANYWHERE)
    return f"Answers {', '.join(good)}" + (f"; else {', '.join(bad)}." if bad else ".")


def _good(status: str, each: dict[str, Any]) -> str:
    content = [
        (media_type, given["schema"]) for media_type, given in each.get("content", {}).items() if given.get("schema")
    ]
    shape = f" {_type(content[0][1], content[0][0])}" if content else ""
    reason = _text(each["description"]).rstrip(".")
    return f"**{status}**{shape}" + ("" if reason in _PLAIN else f" ({reason})")


def _shape(name: str, schema: dict[str, Any]) -> str:
    lines = [f"### {name}\n"]
    if schema.get("description"):
        lines.append(_text(schema["description"]) + "\n")
    needed = set(schema.get("required", ()))
    rows = []
    for member, each in schema.get("properties", {}).items():
        said = [] if member in needed else ["optional"]
        said += [_text(each["description"])] if each.get("description") else []
        rows.append(f"| `{member}` | {_type(each)} | {'; '.join(said)} |")
    if rows:
        lines += ["| | | |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _type(schema: dict[str, Any], media_type: str = "application/json") -> str:
    """Say in a few words what a value is; a shape is a link to where it stands below."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if media_type != "application/json":
        return f"`{media_type.partition(';')[0]}`"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(each) for each in schema[several] if each.get("type") != "null")
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    least, most = schema.get("minimum"), schema.get("maximum")
    if kind in ("integer", "number") and least is not None and most is not None:
        return f"{kind}, {least:,} to {most:,}"
    length = schema.get("maxLength")
    return f"{kind}, up to {length:,} characters" if kind == "string" and length else str(kind or "any value")


def _text(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Write the file, or compare it. Returns the exit code."""
    text = render()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print("docs/api.md is not up to date: run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
