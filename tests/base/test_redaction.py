"""The redaction pre-flight: findings, the set of patterns, masking, hostile texts."""

from __future__ import annotations

import pickle
import re
import time
from itertools import groupby

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.base import redaction
from segue.base.redaction import Field
from segue.base.redaction_patterns import CORE, EXTENDED

from .samples import ALNUM, AWS, BASE64, BEGIN, GITHUB, GOOGLE, HOOK, JWT, KEY, SLACK, STRIPE, UPPER, run


def core(text: str) -> list[str]:
    return [finding.label for finding in redaction.scan_text(text, core_only=True)]


# -- findings -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("packets-41")
def test_a_pattern_is_reported_once_with_its_first_match() -> None:
    first, second = AWS + run(UPPER, 16), "AS" + "IA" + run(UPPER, 16)
    (finding,) = redaction.scan_text(f"{first} and {second}", core_only=True)
    assert finding.found == first


@pytest.mark.requirement("packets-41")
def test_each_pattern_and_each_field_has_its_own_finding() -> None:
    text = f"/home/x {AWS + run(UPPER, 16)} {GITHUB + run(ALNUM, 36)}"
    assert core(text) == ["abs-path", "aws-key", "gh-token"]
    fields = [Field("goal", text, True), Field("constraints[0]", text, True)]
    found = redaction.scan(fields, core_only=True)
    assert [finding.kind for finding in found] == [
        f"{path}/{label}" for path in ("goal", "constraints[0]") for label in ("abs-path", "aws-key", "gh-token")
    ]


def test_the_two_path_patterns_are_two() -> None:
    found = redaction.scan_text(r"/home/x or C:\y", core_only=True)
    assert [(finding.kind, finding.found) for finding in found] == [
        ("text/abs-path", "/home/x"),
        ("text/abs-path", r"C:\y"),
    ]


@pytest.mark.requirement("packets-44")
@pytest.mark.parametrize("length", [31, 32, 33, 200])
def test_the_match_is_cut_after_32_characters(length: int) -> None:
    path = "/home/" + "x" * (length - 6)
    (finding,) = redaction.scan_text(path, core_only=True)
    assert finding.found == (path if length <= 32 else path[:32] + "…")


@pytest.mark.requirement("packets-44")
def test_the_cut_counts_characters_and_splits_none() -> None:
    (finding,) = redaction.scan_text("file://" + "日" * 40)
    assert finding.found == "file://" + "日" * 25 + "…"


def test_extended_findings_say_so() -> None:
    (finding,) = redaction.scan_text("edit ~/notes", path="goal")
    assert (finding.kind, finding.extended) == ("goal/ext/path", True)
    (finding,) = redaction.scan([Field("tags[0]", "/home/x", False)])
    assert finding.kind == "tags[0]/ext/abs-path"


def test_core_only_is_the_core_patterns_over_the_core_fields() -> None:
    fields = [Field("goal", "~/x and /home/x", True), Field("tags[0]", "/home/x", False)]
    assert [item.kind for item in redaction.scan(fields, core_only=True)] == ["goal/abs-path"]
    assert [item.kind for item in redaction.scan(fields)] == ["goal/abs-path", "goal/ext/path", "tags[0]/ext/abs-path"]


def test_fields_are_not_joined_into_a_match() -> None:
    fields = [Field("goal", "/home", True), Field("next_step", "/x", True), Field("id", "ssh-rsa", False)]
    assert redaction.scan([*fields, Field("why", "AAAA" + run(BASE64, 20), True)]) == []


def test_nothing_to_scan() -> None:
    assert redaction.scan([]) == []
    assert redaction.scan_text("") == []


def test_two_spellings_of_one_kind_are_one_extended_finding() -> None:
    text = "set A_TOKEN=one then export PATH=two and $env:x=three"
    (finding,) = redaction.scan_text(text, path="goal")
    assert finding.kind == "goal/ext/env-var"
    fields = [Field("goal", text, True), Field("next_step", text, True)]
    assert [each.kind for each in redaction.scan(fields)] == ["goal/ext/env-var", "next_step/ext/env-var"]
    assert "A_TOKEN" not in masked(text)
    assert "three" not in masked(text)


def test_a_refusal_says_which_document_and_what_to_do() -> None:
    found = redaction.scan_text("see /home/x", path="goal")
    plain = redaction.RedactionRefused(found)
    assert (plain.code, plain.details) == ("packet.redaction", {"redaction": ["goal/abs-path"]})
    assert plain.message.startswith("redaction failed: 1 redactable text (goal/abs-path). Reword them, ")
    assert plain.message.endswith("(--allow-unredacted, allow_unredacted in a call)")
    own = redaction.RedactionRefused(found * 2, "capsule.redaction", "Write them anew")
    assert (own.code, own.findings) == ("capsule.redaction", (*found, *found))
    assert own.message == "redaction failed: 2 redactable texts (goal/abs-path, goal/abs-path). Write them anew"
    copy = pickle.loads(pickle.dumps(own))
    assert type(copy) is redaction.RedactionRefused
    assert (copy.code, copy.message, copy.details, copy.findings) == (own.code, own.message, own.details, own.findings)


# -- the set and the patterns alone ---------------------------------------------------------------------------------

FRAGMENTS = [
    AWS, run(UPPER, 16), GITHUB, run(ALNUM, 36), JWT, "a.b.c", BEGIN, KEY, GOOGLE, run(ALNUM, 35), SLACK, STRIPE, HOOK,
    "ssh-rsa ", "AAAA", "/home/", "/tmp/", "~/", "C:\\", "\\\\h\\s", "file://", "http://localhost:80", "localhost",
    "port ", "8080", ":8080", "127.0.0.1", ".local", "db.internal", "API_KEY=", "export ", "$env:x=", "host=",
    "password=", ";", "Server=", "bearer ", "postgres://", "a:b@", "arn:aws:s3:::", "sk-", "npm_", " ", "\n", "x", "é",
    "日", "-", "_", ".", "(", "<", "=", "'",
]  # fmt: skip
mixed = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=14).map("".join)
texts = mixed.filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))


@settings(derandomize=True, max_examples=400, deadline=None, database=None)
@given(texts)
def test_the_set_agrees_with_each_pattern_alone(text: str) -> None:
    expected = []
    for pattern in (*CORE, *EXTENDED):
        matches = re2.finditer(pattern.regex, text)
        if any(pattern.accepts is None or pattern.accepts(match, text) for match in matches):
            expected.append((pattern.label, pattern not in CORE))
    # Of one kind beyond the core there is one finding, whichever of its spellings were met.
    expected = [each for at, each in enumerate(expected) if not each[1] or each not in expected[:at]]
    assert [(item.label, item.extended) for item in redaction.scan_text(text)] == expected


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(st.lists(texts, max_size=6))
def test_fields_together_give_what_each_gives_alone(contents: list[str]) -> None:
    fields = [Field(f"constraints[{i}]", text, True) for i, text in enumerate(contents)]
    assert redaction.scan(fields) == [finding for field in fields for finding in redaction.scan([field])]


# -- masking ------------------------------------------------------------------------------------------------------


def masked(text: str) -> str:
    result, found = redaction.mask(Field("goal", text, True))
    assert redaction.scan_text(result) == []
    assert bool(found) is (result != text)
    return result


def test_clean_text_is_not_touched() -> None:
    assert masked("Ship the importer.") == "Ship the importer."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /home/bob/x, please", "see [redacted:abs-path], please"),
        ("/home/a and /home/b", "[redacted:abs-path] and [redacted:abs-path]"),
        ("file:///home/bob/x", "[redacted:file-url]"),
        ("set LIB_PATH=lib:/opt/tool/bin now", "set [redacted:env-var] now"),
        (AWS + run(UPPER, 16) + "/home/bob/x", "[redacted:aws-key][redacted:abs-path]"),
        ("[redacted:abs-path]/home/bob/x", "[redacted:abs-path][redacted:abs-path]"),
    ],
)
def test_every_match_is_replaced(text: str, expected: str) -> None:
    assert masked(text) == expected.replace("set [redacted:env-var]", masked("set LIB_PATH=lib:/opt/tool/bin"))


def test_mask_names_what_it_replaced() -> None:
    text = AWS + run(UPPER, 16) + "/home/bob/x"
    _, found = redaction.mask(Field("goal", text, True))
    assert [item.kind for item in found] == ["goal/aws-key", "goal/abs-path"]
    _, found = redaction.mask(Field("goal", "~/x", True), core_only=True)
    assert found == []


@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "ENCRYPTED ", "DSA "])
@pytest.mark.parametrize("line_break", ["\n", "\\n", " "])
def test_a_key_is_masked_as_a_whole(kind: str, line_break: str) -> None:
    body = [run("aB3/+", 64), run("Zy9/+", 64), run("kL5", 22) + "=="]
    end = f"-----EN{'D '}{kind}{KEY}"
    for closing in ([end], []):
        text = line_break.join([f"it is {BEGIN}{kind}{KEY}", *body, *closing]) + ". Go on."
        result = masked(text)
        assert re.fullmatch(r"it is \[redacted:(private-key|pem-header)\]\. Go on\.", result)


def test_prose_after_a_key_header_stays() -> None:
    text = f"The log holds {BEGIN}{KEY} at its start and must go."
    assert masked(text) == "The log holds [redacted:private-key] at its start and must go."


@settings(derandomize=True, max_examples=400, deadline=None, database=None)
@given(texts)
def test_nothing_findable_is_left(text: str) -> None:
    masked(text)


QUOTED = f'API_KEY="{AWS + run(UPPER, 16)} and more"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"set {QUOTED} now", "[redacted:env-var] now"),
        (f"then {QUOTED}, please", "then [redacted:env-var], please"),
        ("export TOKEN='one two three'.", "[redacted:env-var]."),
        ('$env:x = "one two";', "[redacted:env-var];"),
        ('A_B="one', "[redacted:env-var]"),  # the end was cut off
        ("export A_B='one two", "[redacted:env-var] two"),
        ("$env:x = 'one", "[redacted:env-var]"),
        ('A_B="" and A_C="$x y"', 'A_B="" and A_C="$x y"'),  # neither holds anything
    ],
)
def test_a_quoted_value_goes_as_a_whole(text: str, expected: str) -> None:
    assert masked(text) == expected


def spans(text: str) -> list[tuple[int, int, bool]]:
    """What each pattern finds by itself: start, end, and whether more belongs to it (a key behind its header)."""
    found: list[tuple[int, int, bool]] = []
    for pattern in (*CORE, *EXTENDED):
        found += [
            (*match.span(1 if match.re.groups else 0), pattern.hidden)
            for match in re2.finditer(pattern.regex, text)
            if pattern.accepts is None or pattern.accepts(match, text)
        ]
    return found


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(char in rest for char in part)


OVERLAPPING = [
    "API_KEY=", "export TOKEN=", "set X_Y=", '"', "'", "`", AWS + run(UPPER, 16), GITHUB + run(ALNUM, 36),
    STRIPE + run(ALNUM, 24), "/home/bob", "/opt/x:", "C:\\a", "~/x", "file://", "http://", "localhost:8080", ":8080",
    "postgres://a:b@", "db.internal", "password=", "Server=a;", "bearer ", "127.0.0.1", "/etc/x.local", " ", "\n", "z",
    BEGIN + KEY, "-----EN" + "D " + KEY, run("aB3/+", 20), ";", ",", "=", "日",
]  # fmt: skip


@settings(derandomize=True, max_examples=600, deadline=None, database=None)
@given(st.lists(st.sampled_from(OVERLAPPING), max_size=10).map("".join))
def test_of_what_was_matched_no_character_survives(text: str) -> None:
    result = masked(text)  # nothing is found in it
    matched = spans(text)
    hidden = [any(start <= at < end for start, end, _ in matched) for at in range(len(text))]
    outside = "".join(char for at, char in enumerate(text) if not hidden[at])
    assert is_subsequence(re.sub(r"\[redacted:[a-z0-9-]+\]", "", result), outside)
    # Where one pass is enough, what stood between the matches stands there still, and nothing else does.
    runs = [(gone, "".join(text[at] for at, _ in part)) for gone, part in groupby(enumerate(hidden), lambda x: x[1])]
    once = "".join("[redacted:x]" if gone else part for gone, part in runs)
    if redaction.scan_text(once) == [] and not any(more for *_, more in matched):
        assert re.sub(r"(\[redacted:[a-z0-9-]+\])+", "[redacted:x]", result) == once


# -- foreign text in a message --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("nothing", 64, "nothing"),
        ("no\x1b[31m\nthing\u202e", 64, r"no\x1b[31m ⏎ thing\u202e"),
        ("x" * 65, 64, "x" * 63 + "…"),
        ("half \ud800", 64, r"half \ud800"),
        (f"use {AWS + run(UPPER, 16)} here", 64, "use [redacted:aws-key] here"),
        (f"use {GITHUB + run(ALNUM, 40)}", 20, "use [redacted:gh-to…"),  # masked first, then cut
    ],
)
def test_foreign_text_is_shown_short_harmless_and_without_secrets(text: str, length: int, expected: str) -> None:
    assert redaction.shown(text, length) == expected


@pytest.mark.parametrize("before", range(0, 4_000, 97))
def test_no_cut_brings_a_secret_out(before: int) -> None:
    secret = AWS + run(UPPER, 16)
    assert secret[:8] not in redaction.shown("x" * before + " " + secret, 64)


# -- hostile texts --------------------------------------------------------------------------------------------------

SIZE = 256 * 1024
MASKED_SIZE = 1024 * 1024  # transcripts are masked too, and are longer than a packet
HOSTILE = [
    "a", " ", "/", "\\", ".", "-", "_", "=", ":", "é", AWS, AWS + run(UPPER, 15) + " ", GITHUB + run(ALNUM, 35), JWT,
    JWT + "a.", BEGIN, BEGIN + KEY, GOOGLE, SLACK, "ssh-rsa ", "/home", "/home/", "C:\\", "c:/a ", "http://", "a:b@",
    "postgres://a:", "host=a ", "Server=a;", "password=", "port 1 ", ":1234 ", "x.local ", "A_B=", "A_B=$x ", "sk-a-",
    "bearer ", "bearer <xxxxxxxx> ", "arn:aws:s3:::example ", "[redacted:port]", "~/", "\\\\a\\", BEGIN + "\n-----END ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=ascii)
def test_a_hostile_text_is_scanned_in_bounded_time(piece: str) -> None:
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    start = time.process_time()
    redaction.scan_text(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("piece", HOSTILE, ids=ascii)
def test_a_hostile_field_is_masked_in_bounded_time(piece: str) -> None:
    text = (piece * (MASKED_SIZE // len(piece) + 1))[:MASKED_SIZE]
    start = time.process_time()
    masked(text)
    assert time.process_time() - start < 5  # a second at most; what is quadratic takes more than ten


# -- messages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [AWS + "Q7Z2" * 4, GITHUB + "a1B2" * 9, STRIPE + "a1B2" * 6])
def test_a_message_shows_its_path_and_no_secret(secret: str) -> None:
    for message in (f"cannot read /home/ada/{secret}/notes.md", f"'{secret}'", f"{secret} {secret}\ud800", secret):
        found = redaction.harmless(message)
        assert secret not in found
        assert "[redacted:" in found
        assert not redaction.credentials("message", found)
    assert redaction.harmless(f"cannot read /home/ada/notes.md {secret}").startswith("cannot read /home/ada/notes.md ")


@settings(derandomize=True, max_examples=60, deadline=None, database=None)
@given(st.text(max_size=200))
def test_a_message_without_a_secret_stays(text: str) -> None:
    readable = text.encode("utf-8", "backslashreplace").decode()
    if not redaction.credentials("message", readable):
        assert redaction.harmless(text) == readable
