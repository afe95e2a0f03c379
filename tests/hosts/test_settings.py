"""Claude Code's hooks: beside those of others, installed twice, changed, uninstalled."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hosts.test_installation import plain
from segue.base.errors import Failed, InvalidInput
from segue.hosts import Change, State, Surroundings, chosen, install, status, uninstall
from segue.hosts.host import HOSTS, SCOPES, Scope
from segue.hosts.jsonc import Unreadable
from segue.hosts.settings import Hook, Hooks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
THEIRS = '{"type": "command", "command": "lint --all", "timeout": 30}'
GROUP = f'{{"matcher": "startup", "hooks": [{THEIRS}]}}'

TEXTS: dict[str, str] = {
    "empty": "",
    "blank": "\n",
    "comment alone": "// nothing yet\n",
    "empty object": "{}",
    "empty object, line end": "{}\n",
    "empty object, comment": "{\n  // none\n}\n",
    "other keys": '{\n  "model": "m", // mine\n  "permissions": {"allow": ["Bash(ls:*)"], "deny": []}\n}\n',
    "other keys, trailing comma": '{\n  "model": "m",\n}\n',
    "other keys, one line": '{"model":"m","env":{}}',
    "no events": '{\n  "hooks": {}\n}\n',
    "no events, space": '{ "hooks": { } }\n',
    "no events, comment": '{\n  "hooks": {\n    // none\n  }\n}\n',
    "no groups": '{\n  "hooks": {\n    "SessionStart": [],\n    "PreCompact": [ ]\n  }\n}\n',
    "no groups, lines": '{\n  "hooks": {\n    "SessionStart": [\n    ],\n    "Stop": [\n      // none\n    ]\n  }\n}\n',
    "no handlers": '{"hooks": {"SessionStart": [{"matcher": "x", "hooks": []}], "Stop": [{"hooks": []}]}}\n',
    "groups of others": (
        f'{{\n  "hooks": {{\n    "SessionStart": [\n      {GROUP} // theirs\n    ],\n'
        f'    "Stop": [{{"hooks": [{THEIRS}, {THEIRS}]}}]\n  }}\n}}\n'
    ),
    "groups of others, tabs": (
        f'{{\n\t"hooks": {{\n\t\t"PreCompact": [\n\t\t\t{{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{THEIRS}\n\t\t\t\t]\n'
        "\t\t\t}\n\t\t]\n\t}\n}\n"
    ),
    "groups of others, one line": f'{{"hooks":{{"SessionStart":[{GROUP},{GROUP}]}},"n":1}}',
    "groups of others, trailing commas": (
        f'{{\n  "hooks": {{\n    "SessionStart": [\n      {GROUP},\n    ],\n    "PreCompact": [{GROUP},],\n  }},\n}}\n'
    ),
    "groups of others, comments": (
        f'{{ // a\n  "hooks": {{ /* b */\n    "SessionStart": [ // c\n      {GROUP} /* d */, // e\n      // f\n'
        f"      {GROUP} // g\n      /* h */\n    ] // i\n  }} // j\n}}\n"
    ),
    "other events": f'{{\n  "hooks": {{\n    "PostToolUse": [{GROUP}],\n    "Later": {{"a": 1}}\n  }}\n}}\n',
    "strange groups": '{"hooks": {"Stop": [null, 1, "x", [], {"hooks": {}}, {"hooks": [null, {"type": "http"}]}]}}\n',
    "nearly ours": (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "segue hook pre-compact"},'
        ' {"type": "command", "command": "echo segue hook stop"}, {"type": "http", "command": "segue hook stop"},'
        ' {"type": "command", "command": "segue status"}, {"type": "command", "command": "my-segue hook stop"},'
        ' {"type": "command", "command": "segue hook stop \'"}]}]}}\n'
    ),
    "ours at another event": '{"hooks": {"Later": [{"hooks": [{"type": "command", "command": "segue hook stop"}]}]}}\n',
    "deep": '{"a": ' + "[" * 200 + "]" * 200 + ', "hooks": {}}\n',
    "long": "{\n" + "".join(f'  "key{number}": {{"x": [{number}]}},\n' for number in range(300)) + '  "hooks": {}\n}\n',
}

CORPUS: dict[str, bytes] = {name: text.encode() for name, text in TEXTS.items()}
CORPUS |= {
    f"{name}, CRLF": text.replace(b"\n", b"\r\n")
    for name, text in list(CORPUS.items())
    if b"\n" in text and name not in ("deep", "long")
}
CORPUS |= {f"{name}, BOM": BOM + CORPUS[name] for name in ("empty", "empty object", "groups of others, CRLF")}

BROKEN: dict[str, bytes] = {
    "cut": b'{"hooks": {',
    "hooks are a list": b'{"hooks": []}',
    "hooks are null": b'{"hooks": null}',
    "groups are an object": b'{"hooks": {"SessionStart": {}}}',
    "groups are null": b'{"hooks": {"Stop": null}}',
    "two equal keys": b'{"hooks": {}, "hooks": {}}',
    "two equal events": b'{"hooks": {"Stop": [], "Stop": []}}',
    "UTF-16": '{"hooks": {}}'.encode("utf-16"),
    "too deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}

NAMES = ("session-start", "user-prompt-submit", "pre-compact", "stop")
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")
everywhere = pytest.mark.parametrize("scope", SCOPES)


def file_of(scope: Scope, around: Surroundings) -> Path:
    path = HOSTS["claude-code"].settings[scope](around)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def put(around: Surroundings, scope: Scope, hooks: Sequence[Hook] | None = None, **options: Any) -> Change:
    """Install, and return what became of the settings."""
    _, change = install("claude-code", scope, around, hooks=hooks, **options)
    assert change.part == "hooks"
    return change


def take(around: Surroundings, scope: Scope) -> Change:
    _, change = uninstall("claude-code", scope, around)
    return change


def state(around: Surroundings, scope: Scope) -> State:
    found = status("claude-code", around, ask=lambda *_: "answers")
    return next(each for each in found if each.part == "hooks" and each.scope == scope)


def tree(around: Surroundings) -> dict[str, bytes | None]:
    top = around.home.parent
    return {str(p.relative_to(top)): p.read_bytes() if p.is_file() else None for p in top.rglob("*")}


def with_hooks(value: dict[str, Any], program: str, *, every: bool) -> dict[str, Any]:
    """What a settings file has to hold afterwards, written down without the code under test."""
    value = copy.deepcopy(value)
    groups: dict[str, dict[str, Any]] = {
        "SessionStart": {"matcher": "startup|clear|compact", "hooks": ("session-start", "10")},
        "UserPromptSubmit": {"hooks": ("user-prompt-submit", "10")},
        "PreCompact": {"hooks": ("pre-compact", "30")},
        "Stop": {"hooks": ("stop --block", "10")},
    }
    for event, group in groups.items():
        if every or event in ("SessionStart", "PreCompact"):
            name, timeout = group["hooks"]
            handler = {"type": "command", "command": f"{program} hook {name}", "timeout": timeout}
            value.setdefault("hooks", {}).setdefault(event, []).append({**group, "hooks": [handler]})
    return value


@everywhere
@pytest.mark.parametrize("every", [False, True], ids=["usual", "every"])
@pytest.mark.parametrize("original", CORPUS.values(), ids=CORPUS)
def test_installed_twice_and_uninstalled_the_bytes_come_back(
    original: bytes, every: bool, scope: Scope, around: Surroundings
) -> None:
    path = file_of(scope, around)
    path.write_bytes(original)
    before = tree(around)
    hooks = chosen(recall=every, guard=every, block=every)

    first = put(around, scope, hooks)
    installed = path.read_bytes()
    second = put(around, scope, hooks)

    assert (first.action, second.action) == ("changed", "unchanged")
    assert path.read_bytes() == installed != original
    assert first.backup is not None and first.backup.read_bytes() == original
    program = "segue" if scope == "project" else around.executable
    old = plain(original) if original.strip(BOM + b" \r\n\t") and b"nothing yet" not in original else {}
    assert plain(installed) == with_hooks(old, program, every=every)
    found = state(around, scope)
    assert (found.installed, found.differs) == ("yes", False)
    assert sorted(found.hooks) == sorted(hook.title for hook in hooks) == sorted(first.hooks)

    assert take(around, scope).action == "removed"
    assert tree(around) == before


@pytest.mark.parametrize("original", CORPUS.values(), ids=CORPUS)
def test_an_edit_elsewhere_stays_and_everything_else_comes_back(original: bytes, around: Surroundings) -> None:
    path = file_of("project", around)
    path.write_bytes(original)
    put(around, "project", chosen(recall=True, guard=True))
    data = path.read_bytes()
    start = len(BOM) if data.startswith(BOM) else 0
    edited = b"// edited in between\n"
    path.write_bytes(data[:start] + edited + data[start:])
    assert state(around, "project").differs is False
    assert put(around, "project", chosen()).action == "changed"
    assert set(state(around, "project").hooks) == {"session-start", "pre-compact"}
    take(around, "project")
    assert path.read_bytes() == original[:start] + edited + original[start:]


def test_what_is_written(around: Surroundings) -> None:
    path = file_of("project", around)
    path.write_text(f'{{\n  "hooks": {{\n    "PreCompact": [\n      {GROUP}\n    ]\n  }}\n}}\n')
    put(around, "project")
    assert path.read_text() == (
        f'{{\n  "hooks": {{\n    "PreCompact": [\n      {GROUP},\n'
        '      {\n        "hooks": [\n          {\n            "type": "command",\n'
        '            "command": "segue hook pre-compact",\n            "timeout": 30\n          }\n        ]\n'
        '      }\n    ],\n    "SessionStart": [\n      {\n        "matcher": "startup|clear|compact",\n'
        '        "hooks": [\n          {\n            "type": "command",\n'
        '            "command": "segue hook session-start",\n            "timeout": 10\n          }\n        ]\n'
        "      }\n    ]\n  }\n}\n"
    )


@everywhere
def test_files_and_folders_that_were_not_there_go_away_again(scope: Scope, around: Surroundings) -> None:
    before = tree(around)
    for hooks in (chosen(), chosen(recall=True), chosen(guard=True, block=True), chosen()):
        put(around, scope, hooks)
        assert state(around, scope).hooks == tuple(hook.title for hook in hooks)
    uninstall("claude-code", scope, around)
    assert tree(around) == before


def test_without_hooks_nothing_is_written_and_what_is_installed_goes(around: Surroundings) -> None:
    assert put(around, "user", ()).action == "unchanged"
    assert not HOSTS["claude-code"].settings["user"](around).exists()
    path = file_of("user", around)
    path.write_bytes(CORPUS["groups of others"])
    put(around, "user", chosen(guard=True))
    changes = install("claude-code", "user", around, hooks=())
    assert [change.action for change in changes] == ["unchanged", "removed"]
    assert path.read_bytes() == CORPUS["groups of others"]


def test_options_that_are_taken_away_remove_their_hook_alone(around: Surroundings) -> None:
    path = file_of("user", around)
    path.write_bytes(CORPUS["groups of others"])
    put(around, "user")
    usual = path.read_bytes()
    for hooks in (
        chosen(recall=True),
        chosen(guard=True, block=True),
        chosen(guard=True),
        chosen(recall=True, guard=True),
    ):
        put(around, "user", hooks)
        assert set(state(around, "user").hooks) == {hook.title for hook in hooks}
        assert json.loads(path.read_text().replace("// theirs", ""))["hooks"]["SessionStart"][0] == json.loads(GROUP)
    put(around, "user")
    assert path.read_bytes() == usual
    take(around, "user")
    assert path.read_bytes() == CORPUS["groups of others"]


# Hooks of others in the same event and group


def test_handlers_of_others_in_our_group_stay(around: Surroundings) -> None:
    path = file_of("project", around)
    put(around, "project")
    value = json.loads(path.read_bytes())
    value["hooks"]["SessionStart"][0]["hooks"].append(json.loads(THEIRS))
    value["hooks"]["PreCompact"][0]["hooks"].insert(0, json.loads(THEIRS))
    path.write_text(json.dumps(value, indent=2))
    assert put(around, "project").action == "unchanged"
    take(around, "project")
    assert json.loads(path.read_bytes())["hooks"] == {
        "SessionStart": [{"matcher": "startup|clear|compact", "hooks": [json.loads(THEIRS)]}],
        "PreCompact": [{"hooks": [json.loads(THEIRS)]}],
    }


def test_our_handler_in_a_group_of_others_is_kept_there_and_their_matcher_too(around: Surroundings) -> None:
    path = file_of("project", around)
    theirs = json.loads(THEIRS)
    ours = {"type": "command", "command": "/old/segue hook session-start", "timeout": 99, "statusMessage": "x"}
    value = {"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [theirs, ours, theirs]}]}}
    path.write_text(json.dumps(value))
    put(around, "project", chosen())
    found = json.loads(path.read_bytes())["hooks"]["SessionStart"]
    assert found == [
        {
            "matcher": "startup",
            "hooks": [theirs, {**ours, "command": "segue hook session-start", "timeout": 10}, theirs],
        }
    ]
    take(around, "project")
    assert json.loads(path.read_bytes()) == {"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [theirs] * 2}]}}


@pytest.mark.parametrize(
    "command",
    [
        "segue hook stop",
        "/old/bin/segue hook stop --block",
        "'/old one/bin/segue' hook stop",
        '"/old one/bin/segue"   hook   stop',
        "C:\\tools\\segue.exe hook stop",
        '"C:\\my tools\\SEGUE.CMD" hook stop --later-option',
    ],
)
def test_our_commands_of_any_place_are_known_and_replaced(command: str, around: Surroundings) -> None:
    path = file_of("user", around)
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}))
    assert state(around, "user").installed == "other command"
    assert state(around, "user").differs is True
    put(around, "user", chosen(guard=True))
    groups = json.loads(path.read_bytes())["hooks"]["Stop"]
    assert groups == [{"hooks": [{"type": "command", "command": f"{around.executable} hook stop", "timeout": 10}]}]
    assert (state(around, "user").installed, state(around, "user").differs) == ("yes", False)
    take(around, "user")
    assert not path.exists()


def test_a_command_with_a_list_of_arguments_is_ours_too(around: Surroundings) -> None:
    path = file_of("project", around)
    handler = {"type": "command", "command": "segue", "args": ["hook", "stop", "--block"], "timeout": 5}
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    assert state(around, "project").hooks == ("stop --block",)
    put(around, "project", chosen(guard=True))
    (group,) = json.loads(path.read_bytes())["hooks"]["Stop"]
    assert group["hooks"] == [{"type": "command", "command": "segue hook stop", "timeout": 10}]


def test_a_matcher_of_our_own_group_is_written_again(around: Surroundings) -> None:
    path = file_of("project", around)
    put(around, "project")
    usual = path.read_text()
    for matcher in ("startup", "", "*"):
        path.write_text(usual.replace("startup|clear|compact", matcher))
        assert state(around, "project").differs is True
        assert put(around, "project").action == "changed"
        assert path.read_text() == usual
    assert state(around, "project").differs is False


def test_hooks_that_stand_twice_stand_once_afterwards(around: Surroundings) -> None:
    path = file_of("project", around)
    put(around, "project")
    value = json.loads(path.read_bytes())
    group = value["hooks"]["SessionStart"][0]
    mixed = {"hooks": [json.loads(THEIRS), *group["hooks"], *group["hooks"]]}
    value["hooks"]["SessionStart"] = [group, mixed, {"hooks": group["hooks"] * 3}]
    path.write_text(json.dumps(value))
    assert state(around, "project").differs is True
    put(around, "project")
    assert json.loads(path.read_bytes())["hooks"]["SessionStart"] == [group, {"hooks": [json.loads(THEIRS)]}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[T, O]", "[T]"),
        ("[O, T]", "[T]"),
        ("[T, O, T]", "[T, T]"),
        ("[T, O,]", "[T,]"),
        ("[O,]", "[]"),
        ("[ /* c */ O ]", "[ /* c */ ]"),
        ("[T, // c\nO]", "[T // c\n]"),
        ("[O /* c */, T]", "[ /* c */ T]"),
        ("[O, O, T, O]", "[T]"),
        ("[\n  T,\n  O\n]", "[\n  T\n]"),
        ("[\n  O,\n  T\n]", "[\n  T\n]"),
    ],
)
@pytest.mark.parametrize("level", ["handlers", "groups", "pairs"])
def test_ours_alone_are_taken_out_wherever_they_stand(
    level: str, text: str, expected: str, around: Surroundings
) -> None:
    one = '{"type": "command", "command": "segue hook stop"}'
    theirs, own = {
        "handlers": (THEIRS, one),
        "groups": (GROUP, f'{{"hooks": [{one}]}}'),
        "pairs": (GROUP, f'{{"hooks": [{one}, {one}]}}'),
    }[level]
    path = file_of("project", around)
    whole = '{"hooks": {"Stop": [{"hooks": X}, {}]}}' if level == "handlers" else '{"hooks": {"Stop": X, "Later": []}}'
    path.write_text(whole.replace("X", text.replace("T", theirs).replace("O", own)))
    take(around, "project")
    left = expected.replace("T", theirs)
    if "T" in expected or ("c" in expected and level != "handlers"):
        assert path.read_text() == whole.replace("X", left)
    else:  # the group, or the event, held nothing else; a comment in our own group goes with it
        assert path.read_text() == ('{"hooks": {"Stop": [{}]}}' if level == "handlers" else '{"hooks": {"Later": []}}')


def test_a_program_with_a_space_is_quoted(around: Surroundings) -> None:
    spaced = Surroundings(around.home, {}, around.root, "/opt/my tools/it's/segue")
    put(spaced, "user")
    handler = json.loads(file_of("user", around).read_bytes())["hooks"]["PreCompact"][0]["hooks"][0]
    assert handler["command"] == "'/opt/my tools/it'\"'\"'s/segue' hook pre-compact"
    assert put(spaced, "user").action == "unchanged"
    assert (state(spaced, "user").installed, state(spaced, "user").differs) == ("yes", False)


def test_a_moved_program_is_brought_up_to_date_and_the_bytes_still_come_back(around: Surroundings) -> None:
    path = file_of("user", around)
    path.write_bytes(CORPUS["groups of others, comments"])
    put(around, "user", chosen(guard=True))
    moved = Surroundings(around.home, {}, around.root, "/new/segue")
    assert state(moved, "user").installed == "other command"
    assert put(moved, "user", chosen(guard=True)).action == "changed"
    assert b"/opt/tools" not in path.read_bytes()
    take(moved, "user")
    assert path.read_bytes() == CORPUS["groups of others, comments"]


# Refusals and notes


@everywhere
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_left_alone_and_named_and_so_is_the_other(
    text: bytes, scope: Scope, around: Surroundings
) -> None:
    path = file_of(scope, around)
    path.write_bytes(text)
    before = tree(around)
    for hooks in (None, ()):
        with pytest.raises(InvalidInput) as caught:
            install("claude-code", scope, around, hooks=hooks)
        assert caught.value.code == "hosts.unreadable" and str(path) in caught.value.message
    with pytest.raises(InvalidInput):
        uninstall("claude-code", scope, around)
    assert state(around, scope).installed == "unreadable" and state(around, scope).detail
    assert tree(around) == before


def test_hooks_are_for_hosts_that_have_them(around: Surroundings) -> None:
    before = tree(around)
    for host in ("cursor", "vscode", "codex"):
        with pytest.raises(InvalidInput) as caught:
            install(host, "user", around, hooks=chosen(recall=True))
        assert caught.value.code == "hosts.no_hooks"
    assert tree(around) == before


def test_hooks_in_both_places_are_said(around: Surroundings) -> None:
    assert "sessions that start from now on" in put(around, "user").note
    note = put(around, "project").note
    assert "both run" in note and str(HOSTS["claude-code"].settings["user"](around)) in note


def test_hooks_that_are_switched_off_are_said(around: Surroundings) -> None:
    file_of("user", around).write_text('{"disableAllHooks": true}')
    assert state(around, "user").detail == ""
    put(around, "user")
    assert "disableAllHooks" in state(around, "user").detail


def test_the_folder_of_the_environment_holds_the_settings(around: Surroundings, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    moved = Surroundings(around.home, {"CLAUDE_CONFIG_DIR": str(folder)}, around.root, around.executable)
    before = tree(around)
    assert put(moved, "user").path == folder / "settings.json"
    uninstall("claude-code", "user", moved)
    assert tree(around) == before


# Any settings


commands = st.sampled_from(
    ["x", "segue hook stop", "segue hook session-start", "/o/segue hook stop --block", "segue hook later", "'"]
)
handlers = st.one_of(
    st.fixed_dictionaries({"type": st.just("command"), "command": commands}, optional={"timeout": st.integers(1, 9)}),
    st.none() | st.integers(0, 1) | st.fixed_dictionaries({"type": st.just("http"), "url": st.text(max_size=3)}),
)
groups = st.one_of(
    st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=3)}, optional={"matcher": st.text(max_size=3)}),
    st.none() | st.booleans() | st.dictionaries(st.text(max_size=2), st.integers(0, 1), max_size=1),
)
tables = st.dictionaries(st.sampled_from([*EVENTS, "PostToolUse"]), st.lists(groups, max_size=3), max_size=4)
documents = st.fixed_dictionaries({}, optional={"hooks": tables, "model": st.text(max_size=3), "a": st.just([1, {}])})
choices = st.builds(chosen, recall=st.booleans(), guard=st.booleans(), block=st.booleans()) | st.just(())


def others(value: dict[str, Any]) -> dict[str, Any]:
    """What is not Segue's, without groups, events and tables that hold nothing."""
    value = copy.deepcopy(value)
    for event, found in list(value.get("hooks", {}).items()):
        name = NAMES[EVENTS.index(event)] if event in EVENTS else None
        for group in found:
            if isinstance(group, dict) and isinstance(group.get("hooks"), list):
                group["hooks"] = [each for each in group["hooks"] if not _is_ours(each, name)]
        value["hooks"][event] = [group for group in found if not isinstance(group, dict) or group.get("hooks", True)]
        if not value["hooks"][event]:
            del value["hooks"][event]
    return value if value.get("hooks", True) else {key: item for key, item in value.items() if key != "hooks"}


def _is_ours(handler: Any, name: str | None) -> bool:
    words = handler.get("command", "").split() if isinstance(handler, dict) else []
    return len(words) > 2 and words[0].endswith("segue") and words[1:3] == ["hook", name]


def ours(value: dict[str, Any]) -> list[str]:
    return [
        handler["command"]
        for event, found in value.get("hooks", {}).items()
        for group in found
        if event in EVENTS and isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for handler in group["hooks"]
        if _is_ours(handler, NAMES[EVENTS.index(event)])
    ]


@examples(max_examples=150, deadline=None, derandomize=True)
@given(documents, st.lists(choices, min_size=1, max_size=3), st.sampled_from([None, 2, "\t"]))
def test_in_any_settings_ours_stand_once_and_nothing_else_changes(
    value: dict[str, Any], choice: list[tuple[Hook, ...]], indent: int | str | None
) -> None:
    raw = json.dumps(value, indent=indent).encode()
    for hooks in choice:
        part = Hooks("/opt/segue", hooks)
        installed = part.put(raw)
        found = json.loads(installed or b"{}")
        assert sorted(ours(found)) == sorted(f"/opt/segue hook {hook.title}" for hook in hooks)
        assert others(found) == others(value)
        assert part.put(installed) == installed
        raw = installed
    left = part.drop(raw, None)
    rest = json.loads(left or b"{}")
    assert ours(rest) == [] and others(rest) == others(value)


@examples(max_examples=100, deadline=None, derandomize=True)
@given(documents, choices.filter(bool), st.sampled_from([None, 2, "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_from_any_settings_without_ours_the_bytes_come_back(
    value: dict[str, Any], hooks: tuple[Hook, ...], indent: int | str | None, newline: str
) -> None:
    raw = json.dumps(value, indent=indent).replace("\n", newline).encode()
    part = Hooks("segue", hooks)
    if part.look(raw).is_there:
        return
    installed = part.put(raw)
    assert part.is_only_change(installed, raw)
    assert part.drop(installed, raw) == raw


@examples(max_examples=100, deadline=None, derandomize=True)
@given(st.binary(max_size=40) | st.text('{}[]",:/*hooksStp \n\r', max_size=40).map(str.encode))
def test_any_bytes_are_edited_or_refused(raw: bytes) -> None:
    part = Hooks("segue", chosen(guard=True))
    try:
        installed = part.put(raw)
    except (Unreadable, Failed) as error:
        assert not isinstance(error, Failed)
        return
    assert part.look(installed).hooks and part.drop(installed, raw) == raw
