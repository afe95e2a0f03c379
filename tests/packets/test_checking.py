"""The report on a packet: what is scanned, what is shown, and a masked packet that is valid and clean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import redaction
from segue.packets import checking, fields, schema
from segue.packets.model import MAX_BYTES

from .examples import AWS_KEY, GITHUB_TOKEN, KEY_HEADER, encoded, full, minimal, old, packet


def kinds(document: dict[str, Any], *, core_only: bool = False) -> list[str]:
    report = checking.check(encoded(document), core_only=core_only)
    return [finding.kind for finding in report.findings]


def placed(path: str, text: str) -> dict[str, Any]:
    """Return a full document with `text` at `path`."""
    document: Any = full()
    *parents, last = path.replace("[", ".").replace("]", "").split(".")
    place = document
    for part in parents:
        place = place[int(part) if part.isdigit() else part]
    place[int(last) if last.isdigit() else last] = text
    return dict(document)


# -- which fields -------------------------------------------------------------------------------------------------


def covered(path: str) -> None:
    assert kinds(placed(path, AWS_KEY), core_only=True) == [f"{path}/aws-key"]
    assert kinds(placed(path, f"{AWS_KEY} ~/x")) == [f"{path}/aws-key", f"{path}/ext/path"]


@pytest.mark.requirement("packets-47")
def test_goal_is_scanned() -> None:
    covered("goal")


@pytest.mark.requirement("packets-48")
def test_next_step_is_scanned() -> None:
    covered("next_step")


@pytest.mark.requirement("packets-49")
def test_success_criteria_are_scanned() -> None:
    covered("success_criteria[0]")


@pytest.mark.requirement("packets-50")
def test_constraints_are_scanned() -> None:
    covered("constraints[0]")


@pytest.mark.requirement("packets-51")
def test_decisions_what_is_scanned() -> None:
    covered("decisions[1].what")


@pytest.mark.requirement("packets-52")
def test_decisions_why_is_scanned() -> None:
    covered("decisions[0].why")


@pytest.mark.requirement("packets-53")
def test_decisions_consequences_is_scanned() -> None:
    covered("decisions[1].consequences")


@pytest.mark.requirement("packets-54")
def test_methods_when_applicable_is_scanned() -> None:
    covered("methods[0].when_applicable")


@pytest.mark.requirement("packets-55")
def test_methods_how_is_scanned() -> None:
    covered("methods[0].how")


@pytest.mark.requirement("packets-56")
def test_attempts_tried_is_scanned() -> None:
    covered("attempts[1].tried")


@pytest.mark.requirement("packets-57")
def test_attempts_learned_is_scanned() -> None:
    covered("attempts[0].learned")


@pytest.mark.requirement("packets-58")
def test_open_questions_are_scanned() -> None:
    covered("open_questions[0]")


@pytest.mark.requirement("packets-9", "packets-28")
@pytest.mark.parametrize(
    "path",
    [
        "id",
        "parent_id",
        "project.name",
        "project.ref",
        "tags[1]",
        "methods[0].name",
        "provenance.author_model",
        "provenance.author_human",
        "provenance.source_hash",
    ],
)
def test_all_other_texts_belong_to_the_extended_scan(path: str) -> None:
    assert kinds(placed(path, AWS_KEY), core_only=True) == []
    assert kinds(placed(path, AWS_KEY)) == [f"{path}/ext/aws-key"]
    assert kinds(placed(path, "/home/x")) == [f"{path}/ext/abs-path"]


def test_the_scan_of_version_0_1() -> None:
    assert kinds(old(goal=AWS_KEY, tags=["a"], constraints=["/home/x"])) == ["goal/aws-key", "constraints[0]/abs-path"]


@pytest.mark.requirement("packets-40")
@pytest.mark.parametrize("version", schema.VERSIONS)
def test_every_text_that_a_version_knows_is_covered(version: str) -> None:
    def sample(rule: dict[str, Any]) -> Any:
        if rule.get("type") == "object":
            return {name: sample(member) for name, member in rule["properties"].items()}
        if rule.get("type") == "array":
            return [sample(rule["items"]), sample(rule["items"])]
        prose = rule.get("maxLength", 0) >= 1024
        return True if rule.get("type") == "boolean" else AWS_KEY if prose else GITHUB_TOKEN

    document = sample(json.loads(schema.schema_text(version)))
    texts = json.dumps(document)
    found = redaction.scan(fields.texts(document))
    assert len(found) == texts.count(AWS_KEY) + texts.count(GITHUB_TOKEN)
    # What people write in sentences belongs to the specification's own scan, whatever version brought it.
    assert {item.path for item in found if item.label == "aws-key"} == {
        item.path for item in found if not item.extended
    }


def test_unknown_members_are_scanned_too() -> None:
    document = minimal(
        notes=AWS_KEY, extra={"deep": [["x", {"er": GITHUB_TOKEN}]]}, decisions=[{"what": "w", "x": AWS_KEY}]
    )
    assert kinds(document) == [
        "notes/ext/aws-key",
        "extra.deep[0][1].er/ext/gh-token",
        "decisions[0].x/ext/aws-key",
    ]
    assert kinds(document, core_only=True) == []


def test_a_core_name_elsewhere_is_no_core_field() -> None:
    document = minimal(extra={"goal": AWS_KEY, "what": AWS_KEY}, methods=[{"what": AWS_KEY}], goals=[AWS_KEY])
    assert kinds(document, core_only=True) == []
    assert kinds(minimal(goal=[AWS_KEY], constraints=AWS_KEY), core_only=True) == []


def test_a_packet_that_breaks_its_schema_is_scanned_all_the_same() -> None:
    report = checking.check(encoded(minimal(id="short", constraints=[AWS_KEY, 7, None, ["/home/x"]])))
    assert not report.valid
    assert [item.kind for item in report.findings] == ["constraints[0]/aws-key", "constraints[3][0]/ext/abs-path"]
    assert report.exit_code == 3


def test_the_name_of_an_unknown_member_is_shown_harmless_and_short() -> None:
    (kind,) = kinds(minimal(**{"\x1b[2J\n# x" + "y" * 500: AWS_KEY}))
    assert "\x1b" not in kind
    assert "\n" not in kind
    assert len(kind) < 80


# -- the mechanics ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-39")
def test_the_spelling_of_the_json_text_does_not_change_the_result() -> None:
    document = full(goal=f"see /home/x and {AWS_KEY}", open_questions=[GITHUB_TOKEN])
    plain = json.dumps(document)
    texts = [
        json.dumps(document, indent=9),
        json.dumps(dict(reversed(document.items()))),
        plain.replace("/", "\\/"),
        "".join(f"\\u{ord(char):04x}" if char in "AGhome" else char for char in AWS_KEY).join(plain.split(AWS_KEY)),
    ]
    expected = {(item.kind, item.found) for item in checking.check(plain.encode()).findings}
    assert len(expected) == 3
    for text in texts:
        assert {(item.kind, item.found) for item in checking.check(text.encode()).findings} == expected


@pytest.mark.requirement("packets-39")
def test_a_json_escape_is_no_part_of_the_text() -> None:
    raw = encoded(minimal(goal="PLACE")).replace(b"PLACE", b"x\\n/home/a and y\\\\/home/b")
    (finding,) = checking.check(raw).findings
    assert finding.found == "/home/a"
    raw = encoded(minimal(goal="PLACE")).replace(b"PLACE", b"C:\\\\a")
    assert [item.found for item in checking.check(raw).findings] == ["C:\\a"]


@pytest.mark.requirement("packets-41")
def test_one_finding_for_each_field_and_pattern() -> None:
    text = f"{AWS_KEY} {AWS_KEY} /home/a /home/b"
    assert kinds(minimal(goal=text, constraints=[text, text])) == [
        f"{path}/{label}" for path in ("goal", "constraints[0]", "constraints[1]") for label in ("abs-path", "aws-key")
    ]


@pytest.mark.requirement("packets-44", "packets-45")
def test_what_a_report_shows_of_a_finding() -> None:
    report = checking.check(
        encoded(minimal(goal=GITHUB_TOKEN, next_step=KEY_HEADER, constraints=["/home/" + "x" * 26]))
    )
    assert report.to_json()["redaction"] == [
        {"kind": "goal/gh-token", "found": GITHUB_TOKEN[:32] + "…"},
        {"kind": "next_step/private-key", "found": "-----BEGIN …"},
        {"kind": "constraints[0]/abs-path", "found": "/home/" + "x" * 26},
    ]


# -- the report ---------------------------------------------------------------------------------------------------


def test_a_clean_packet() -> None:
    data = encoded(full())
    report = checking.check(data)
    assert report.exit_code == 0
    assert report.packet == schema.parse(data)
    assert report.to_json() == {
        "valid": True,
        "version": "0.2",
        "bytes": len(data),
        "errors": [],
        "redaction": [],
        "warnings": [],
    }


@pytest.mark.parametrize(
    ("left_out", "changes", "draft"),
    [
        (("id", "created_at"), {}, True),
        (("id",), {}, True),
        (("created_at",), {}, True),
        ((), {}, False),  # a packet, not a draft
        (("id", "created_at", "goal"), {}, False),
        (("id", "created_at"), {"goal": ""}, False),
        (("id",), {"tags": ["NOT A TAG"]}, False),
        (("ltm_version", "id"), {}, False),
    ],
)
def test_a_draft_lacks_nothing_but_what_a_save_fills_in(
    left_out: tuple[str, ...], changes: dict[str, Any], draft: bool
) -> None:
    document = {name: value for name, value in minimal(**changes).items() if name not in left_out}
    report = checking.check(encoded(document))
    assert report.is_draft is draft
    assert report.exit_code == (3 if left_out or changes else 0)


def test_findings_leave_a_packet_valid() -> None:
    report = checking.check(encoded(minimal(goal="see ~/x")))
    assert (report.valid, report.exit_code) == (True, 4)
    assert checking.check(encoded(minimal(goal="see ~/x")), core_only=True).exit_code == 0


def test_errors_are_named_with_code_path_and_message() -> None:
    out = checking.check(encoded(minimal(tags=["A"]))).to_json()
    assert out["valid"] is False
    assert [(item["code"], item["path"]) for item in out["errors"]] == [("packet.schema", "tags[0]")]
    assert out["errors"][0]["message"].startswith("schema violation: tags[0]")
    out = checking.check(b"{").to_json()
    assert (out["version"], out["bytes"], out["errors"][0]["code"]) == ("", 1, "packet.json")


def test_warnings_leave_a_packet_valid_and_clean() -> None:
    report = checking.check(encoded(minimal(attempts=[{"tried": "t", "outcome": "failed"}])))
    assert report.exit_code == 0
    assert [(item["code"], item["path"]) for item in report.to_json()["warnings"]] == [("rule.learned", "attempts[0]")]
    assert report.to_json()["warnings"][0]["message"]


@pytest.mark.requirement("packets-16")
def test_the_parent_is_asked_for_renamed_methods() -> None:
    method = {"name": "warm-cache", "when_applicable": "w", "how": "make warm"}
    child = encoded(minimal(methods=[method | {"name": "heat-cache"}]))
    report = checking.check(child, parent=packet(methods=[method]))
    assert [(item.code, item.path) for item in report.warnings] == [("rule.renamed", "methods[0].name")]
    assert checking.check(child).warnings == []


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_report(data: bytes) -> None:
    report = checking.check(data)
    assert report.exit_code == 3
    json.dumps(report.to_json())


# -- mask ---------------------------------------------------------------------------------------------------------


def masked(document: dict[str, Any], *, core_only: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Return the masked document, which must be valid and clean, and the kinds that were replaced."""
    assert schema.schema_problems(document) == []
    before = json.dumps(document)
    result, replaced = checking.mask(document, core_only=core_only)
    assert json.dumps(document) == before
    assert schema.schema_problems(result) == []
    left = redaction.scan(fields.texts(result), core_only=core_only)
    assert {finding.path for finding in left} <= {"id", "parent_id"}
    return result, [finding.kind for finding in replaced]


@pytest.mark.requirement("packets-31")
def test_every_finding_is_replaced_and_named() -> None:
    document = full(
        goal=f"use {AWS_KEY}",
        constraints=["ok", "in /home/x and ~/y"],
        provenance={"author_human": "mira " + GITHUB_TOKEN},
        project={"name": "x", "ref": "file:///home/x"},
    )
    result, replaced = masked(document)
    assert result["goal"] == "use [redacted:aws-key]"
    assert result["constraints"] == ["ok", "in [redacted:abs-path] and [redacted:path]"]
    assert result["provenance"] == {"author_human": "mira [redacted:gh-token]"}
    assert result["project"] == {"name": "x", "ref": "[redacted:file-url]"}
    assert sorted(replaced) == [
        "constraints[1]/abs-path",
        "constraints[1]/ext/path",
        "goal/aws-key",
        "project.ref/ext/abs-path",
        "project.ref/ext/file-url",
        "provenance.author_human/ext/gh-token",
    ]


def test_what_is_clean_is_not_touched() -> None:
    assert masked(full()) == (full(), [])


def test_core_only_masks_the_core_findings() -> None:
    document = full(goal=f"{AWS_KEY} ~/x", provenance={"author_human": GITHUB_TOKEN})
    result, replaced = masked(document, core_only=True)
    assert result["goal"] == "[redacted:aws-key] ~/x"
    assert result["provenance"] == {"author_human": GITHUB_TOKEN}
    assert replaced == ["goal/aws-key"]


def test_tags_and_method_names_stay_legal() -> None:
    key = "s" + "k-" + "a1b2" * 7
    assert len(key) <= 32
    document = full(tags=["db", key, "wal"])
    document["methods"][0]["name"] = key
    result, replaced = masked(document)
    assert result["tags"] == ["db", "wal"]
    assert result["methods"][0]["name"] == "redacted-model-key"
    assert sorted(replaced) == ["methods[0].name/ext/model-key", "tags[1]/ext/model-key"]


@pytest.mark.parametrize("name", ["id", "parent_id"])
def test_ids_are_never_changed(name: str) -> None:
    document = full(**{name: AWS_KEY})
    result, replaced = masked(document)
    assert result[name] == AWS_KEY
    assert replaced == []


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("goal", 1024),
        ("constraints[0]", 1024),
        ("decisions[0].why", 1024),
        ("methods[0].how", 2048),
        ("attempts[0].learned", 1024),
        ("project.name", 128),
        ("project.ref", 256),
        ("provenance.author_human", 128),
    ],
)
def test_a_text_that_grows_is_cut_at_its_limit(path: str, limit: int) -> None:
    text = "~/x " * (limit // 4)
    result, replaced = masked(placed(path, text))
    assert replaced == [f"{path}/ext/path"]
    (field,) = [item for item in fields.texts(result) if item.path == path]
    assert len(field.text) == limit
    assert field.text.startswith("[redacted:path] [redacted:path]")
    assert field.text.endswith("…")


def test_a_cut_that_makes_a_match_is_masked_too() -> None:
    start = "~/x " * 50
    grown = len(start.replace("~/x", "[redacted:path]"))
    filler = "x" * (1024 - grown - 41) + " "
    goal = start + filler + "AI" + "za" + "b" * 40
    assert len(goal) <= 1024
    result, _ = masked(minimal(goal=goal))
    assert result["goal"] == "[redacted:path]"


pieces = st.lists(
    st.sampled_from(
        [
            AWS_KEY,
            GITHUB_TOKEN,
            KEY_HEADER,
            "/home/x",
            "~/y",
            "C:\\a b",
            "API_KEY=a:/opt/x",
            "file://",
            "port 8080",
            " ",
            "x",
            "é",
        ]
    ),
    max_size=8,
).map("".join)


@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(goal=pieces, how=pieces, ref=pieces, author=pieces)
def test_a_masked_packet_is_valid_and_clean(goal: str, how: str, ref: str, author: str) -> None:
    masked(
        minimal(
            goal=goal[:1024] or "g",
            methods=[{"name": "a", "when_applicable": "", "how": how}],
            project={"ref": ref[:256]},
            provenance={"author_human": author[:128]},
        )
    )


def test_a_packet_at_the_size_limit_can_be_masked() -> None:
    document = minimal(constraints=["~/x " * 256] * 31)
    assert len(encoded(document)) <= MAX_BYTES
    masked(document)
