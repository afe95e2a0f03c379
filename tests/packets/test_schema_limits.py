"""The schema of each version at the edges of every member (section 000.1 of the facts)."""

from __future__ import annotations

from typing import Any

import pytest

from .examples import ATTEMPT, DECISION, METHOD, minimal, old
from .verdict import accepts, refuses

VERSIONS = ["0.1", "0.2"]


def repeated(entry: Any, count: int) -> list[Any]:
    return [entry] * count


@pytest.mark.requirement("packets-46")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_required_members_are_enough_and_each_is_needed(version: str) -> None:
    document = minimal(ltm_version=version)
    accepts(document)
    for name in ("id", "created_at", "goal", "next_step"):
        without = {key: value for key, value in document.items() if key != name}
        refuses(without, "schema violation: packet lacks the required property", f"'{name}'")


@pytest.mark.requirement("packets-4", "packets-46", "packets-69")
@pytest.mark.parametrize("char", ["x", "é", "😀"])
def test_id_length_in_characters(char: str) -> None:
    accepts(minimal(id=char * 10))
    accepts(minimal(id=char * 64))
    refuses(minimal(id=char * 9), "schema violation: id", "minLength 10")
    refuses(minimal(id=char * 65), "schema violation: id", "maxLength 64")
    refuses(minimal(id="01J"), "minLength")
    refuses(minimal(id=""), "minLength")


@pytest.mark.requirement("packets-4")
@pytest.mark.parametrize(
    "identifier", ["01J9X8K2QZ7N4M0WXYZV3R8ABC", "550e8400-e29b-41d4-a716-446655440000", "a/b c\n\u202edéf"]
)
def test_id_is_opaque(identifier: str) -> None:
    accepts(minimal(id=identifier))


@pytest.mark.requirement("packets-8", "packets-46", "packets-69")
def test_parent_id_length() -> None:
    accepts(minimal(parent_id="é" * 10))
    accepts(minimal(parent_id="é" * 64))
    refuses(minimal(parent_id="é" * 9), "schema violation: parent_id", "minLength 10")
    refuses(minimal(parent_id="é" * 65), "schema violation: parent_id", "maxLength 64")


@pytest.mark.requirement("packets-6", "packets-7", "packets-46", "packets-69")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["goal", "next_step"])
def test_goal_and_next_step_length(version: str, name: str) -> None:
    for text in ("x", "é" * 1024, "😀" * 1024):
        accepts(minimal(ltm_version=version) | {name: text})
    refuses(minimal(ltm_version=version) | {name: ""}, f"schema violation: {name}", "minLength 1")
    refuses(minimal(ltm_version=version) | {name: "é" * 1025}, f"schema violation: {name}", "maxLength 1024")


@pytest.mark.requirement("packets-10", "packets-11", "packets-18", "packets-46", "packets-69")
@pytest.mark.parametrize(
    ("version", "name", "most"),
    [
        ("0.2", "success_criteria", 16),
        ("0.2", "constraints", 32),
        ("0.2", "open_questions", 32),
        ("0.1", "constraints", 32),
        ("0.1", "open_questions", 32),
    ],
)
def test_lists_of_texts(version: str, name: str, most: int) -> None:
    document = minimal(ltm_version=version)
    accepts(document | {name: []})
    accepts(document | {name: ["", "é" * 1024]})
    accepts(document | {name: repeated("x", most)})
    refuses(document | {name: repeated("x", most + 1)}, f"schema violation: {name}", f"maxItems {most}")
    refuses(document | {name: ["x", "é" * 1025]}, f"schema violation: {name}[1]", "maxLength 1024")
    refuses(document | {name: [1]}, f"{name}[0]", "must be of type string")
    refuses(document | {name: "x"}, name, "must be of type array")


@pytest.mark.requirement("packets-12", "packets-14", "packets-17", "packets-46", "packets-69")
@pytest.mark.parametrize(
    ("version", "name", "entry", "most"),
    [
        ("0.1", "decisions", DECISION, 64),
        ("0.2", "decisions", DECISION, 64),
        ("0.2", "methods", METHOD, 32),
        ("0.1", "attempts", ATTEMPT, 64),
        ("0.2", "attempts", ATTEMPT, 64),
    ],
)
def test_lists_of_objects(version: str, name: str, entry: dict[str, str], most: int) -> None:
    document = minimal(ltm_version=version)
    accepts(document | {name: []})
    accepts(document | {name: repeated(entry, most)})
    refuses(document | {name: repeated(entry, most + 1)}, f"schema violation: {name}", f"maxItems {most}")
    refuses(document | {name: ["x"]}, f"{name}[0]", "must be of type object")
    refuses(document | {name: [entry | {"extra": 1}]}, f"{name}[0]", "additional", "'extra'")
    for member in entry:
        without = {key: value for key, value in entry.items() if key != member}
        refuses(document | {name: [entry, without]}, f"{name}[1] lacks the required property '{member}'")


@pytest.mark.requirement("packets-12", "packets-14", "packets-17", "packets-46", "packets-69")
@pytest.mark.parametrize(
    ("version", "name", "entry", "member", "most"),
    [
        *((version, "decisions", DECISION, member, 1024) for version in VERSIONS for member in ("what", "why")),
        ("0.2", "decisions", DECISION, "consequences", 1024),
        ("0.2", "methods", METHOD, "when_applicable", 1024),
        ("0.2", "methods", METHOD, "how", 2048),
        *((version, "attempts", ATTEMPT, member, 1024) for version in VERSIONS for member in ("tried", "learned")),
    ],
)
def test_texts_in_objects(version: str, name: str, entry: dict[str, str], member: str, most: int) -> None:
    document = minimal(ltm_version=version)
    accepts(document | {name: [entry | {member: ""}]})
    accepts(document | {name: [entry | {member: "é" * most}]})
    refuses(document | {name: [entry | {member: "é" * (most + 1)}]}, f"{name}[0].{member}", f"maxLength {most}")
    refuses(document | {name: [entry | {member: None}]}, f"{name}[0].{member}", "must be of type string")


@pytest.mark.requirement("packets-12")
@pytest.mark.parametrize("version", VERSIONS)
def test_locked_is_true_or_false(version: str) -> None:
    for value in (True, False):
        accepts(minimal(ltm_version=version, decisions=[DECISION | {"locked": value}]))
    for wrong in (1, "true", None):
        refuses(
            minimal(ltm_version=version, decisions=[DECISION | {"locked": wrong}]), "decisions[0].locked", "boolean"
        )


@pytest.mark.requirement("packets-17")
@pytest.mark.parametrize("version", VERSIONS)
def test_outcomes(version: str) -> None:
    for value in ("succeeded", "failed", "partial"):
        accepts(minimal(ltm_version=version, attempts=[ATTEMPT | {"outcome": value}]))
    for wrong in ("maybe", "Failed", "", None, 1):
        document = minimal(ltm_version=version, attempts=[ATTEMPT | {"outcome": wrong}])
        refuses(document, "attempts[0].outcome must be one of succeeded, failed, partial")


@pytest.mark.requirement("packets-17", "packets-23")
def test_confidence() -> None:
    for value in ("low", "medium", "high"):
        accepts(minimal(attempts=[ATTEMPT | {"confidence": value}]))
        for version in VERSIONS:
            accepts(minimal(ltm_version=version, provenance={"confidence": value}))
    for wrong in ("none", "High", "", 0.9, None):
        refuses(minimal(attempts=[ATTEMPT | {"confidence": wrong}]), "attempts[0].confidence", "low, medium, high")
        refuses(minimal(provenance={"confidence": wrong}), "provenance.confidence", "low, medium, high")
        refuses(old(provenance={"confidence": wrong}), "provenance.confidence", "low, medium, high")


@pytest.mark.requirement("packets-9", "packets-20", "packets-21", "packets-46", "packets-69")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "member", "most"),
    [
        ("project", "name", 128),
        ("project", "ref", 256),
        ("provenance", "author_model", 128),
        ("provenance", "author_human", 128),
    ],
)
def test_project_and_provenance(version: str, name: str, member: str, most: int) -> None:
    document = minimal(ltm_version=version)
    accepts(document | {name: {}})
    accepts(document | {name: {member: ""}})
    accepts(document | {name: {member: "é" * most}})
    refuses(document | {name: {member: "é" * (most + 1)}}, f"{name}.{member}", f"maxLength {most}")
    refuses(document | {name: {member: 1}}, f"{name}.{member}", "must be of type string")
    refuses(document | {name: {"path": "x"}}, name, "additional", "'path'")
    refuses(document | {name: []}, name, "must be of type object")


@pytest.mark.requirement("packets-22")
@pytest.mark.parametrize("version", VERSIONS)
def test_source_hash(version: str) -> None:
    accepts(minimal(ltm_version=version, provenance={"source_hash": "sha256:" + "0123456789abcdef" * 4}))
    for wrong in (
        "",
        "a" * 64,
        "sha256:" + "a" * 63,
        "sha256:" + "a" * 65,
        "sha256:" + "A" * 64,
        "sha256:" + "g" * 64,
        "sha1:" + "a" * 64,
        "sha256:" + "a" * 64 + "\n",
        "xsha256:" + "a" * 64,
        "The source text itself.",
    ):
        refuses(minimal(ltm_version=version, provenance={"source_hash": wrong}), "provenance.source_hash", "sha256:")


@pytest.mark.requirement("packets-15")
@pytest.mark.parametrize("name", ["a", "0", "refresh-login", "a-", "a--b", "9" * 128, "a" + "-" * 127])
def test_method_names(name: str) -> None:
    accepts(minimal(methods=[METHOD | {"name": name}]))


@pytest.mark.requirement("packets-15")
@pytest.mark.parametrize(
    "name",
    [
        "RefreshLogin",
        "refresh_login",
        "refresh login",
        "-refresh",
        ".refresh",
        "",
        "refresh-login-é",
        "a" * 129,
        "refresh/login",
        "refresh\n",
        "\nrefresh",
        "²",
        "٣",
    ],
)
def test_no_method_names(name: str) -> None:
    refuses(minimal(methods=[METHOD | {"name": name}]), "schema violation: methods[0].name", "pattern")


@pytest.mark.requirement("packets-19")
@pytest.mark.parametrize("version", VERSIONS)
def test_tags(version: str) -> None:
    document = minimal(ltm_version=version)
    accepts(document | {"tags": ["a", "0-", "a" * 32]})
    accepts(document | {"tags": repeated("a", 16)})
    refuses(document | {"tags": repeated("a", 17)}, "tags", "maxItems 16")
    for wrong in ("", "A", "a_b", "a b", "-a", "é", "a" * 33, "a\n", "a.b"):
        refuses(document | {"tags": ["ok", wrong]}, "schema violation: tags[1]", "pattern")


@pytest.mark.requirement("packets-5")
@pytest.mark.parametrize("version", VERSIONS)
def test_created_at_is_a_real_time(version: str) -> None:
    for text in ("2026-05-04T09:30:00Z", "2026-05-04t09:30:00.123456789+14:00", "2024-02-29T00:00:00-00:00"):
        accepts(minimal(ltm_version=version, created_at=text))
    for wrong in (
        "yesterday",
        "2026-05-04",
        "2026-05-04T09:30:00",
        "2026-05-04T09:30:60Z",
        "2025-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "",
    ):
        refuses(minimal(ltm_version=version, created_at=wrong), "schema violation: created_at", "RFC 3339")
    refuses(minimal(created_at=0), "created_at", "must be of type string")
