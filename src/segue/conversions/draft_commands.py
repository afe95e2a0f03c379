"""Which commands of a session were checks (tests, builds, linters and the like), and whether they passed.

Any other program counts only where the very same command failed and passed later: see `Run.known`.

An exit status is believed only where it is that of the check: `pytest | tail` and `make || true` say nothing by
their status, so the summary that the program printed decides there, or nothing does.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import dropwhile

from segue.conversions import draft_programs as programs

_LONGEST = 4_000  # characters of a command that is read
_STOPPED = {124, 130, 137, 143}  # timed out, interrupted, killed: says nothing about the work
_QUIET = {"", "(no content)", "(Bash completed with no output)"}
_FILTERS = {"head", "tail", "cat", "tee", "grep"}
_OPERATORS = {"&&", "||", ";", "|", "|&", "&", "(", ")", ";;"}
_OTHER_LONGEST = 160  # characters of a command that is no check by its name
_SETTING = re.compile(r"[\w.-]+=[^/]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SECRET = re.compile(r"((?:token|passw(?:or)?d|secret|api[-_]?key|credential)s?[ =])('[^']*'|\S+)", re.IGNORECASE)
_ALL = (".", "./...", "src", "--")

_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|failing|errors?)\b|^\s{0,8}(?:FAILED|FAIL|ERROR|--- FAIL:)|\bBUILD FAILED\b"
    r"|^error\[E\d+\]|^error(?: TS\d+)?:|\berror TS\d+:|^npm (?:ERR!|error)|^Traceback \(most recent call last\)"
    r"|\btest result: FAILED|^panic:",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"\b[1-9]\d* (?:passed|passing)\b|\btest result: ok\b|^ok\s+\S+|\bBUILD SUCCESS|\bAll checks passed"
    r"|\bno issues found\b|"
    r"^OK\b|\b0 errors\b|^Success:|^\s{0,8}Finished .{0,60}(?:profile|target)|\bbuilt in \d|^Compiled successfully",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its kind (`npm run build`), what it was pointed at, and the command as one would type it."""

    family: str
    targets: tuple[str, ...]
    text: str

    def covers(self, other: Check) -> bool:
        """Whether a pass of this check says that `other` would pass too."""
        if self.family != other.family:
            return False
        if not self.targets:
            return True
        return bool(other.targets) and all(
            any(target == mine or target.startswith((mine.rstrip("/") + "/", mine + "::")) for mine in self.targets)
            for target in other.targets
        )


@dataclass(frozen=True, slots=True)
class Run:
    """Checks that ran in one command, and whether they passed; None where the record does not say.

    `known` is False for a program that is no check by its name: its failure alone says little.
    """

    checks: tuple[Check, ...]
    passed: bool | None
    exit_code: int | None = None
    known: bool = True

    @property
    def text(self) -> str:
        """The checks as one would type them."""
        return " && ".join(dict.fromkeys(check.text for check in self.checks))


@dataclass(frozen=True, slots=True)
class _Segment:
    words: tuple[str, ...]
    after: str  # the operator that follows
    check: Check | None


def run_of(command: str, output: str, ok: bool | None, exit_code: int | None) -> Run | None:
    """Return the checks in a shell command and how they ended; None where there are none."""
    segments = _segments(command)
    checks = tuple(segment.check for segment in segments if segment.check is not None)
    if exit_code in (126, 127):
        return None
    if not checks:
        return _other(segments, ok, exit_code)
    if checks[0].family == "pytest" and exit_code in (4, 5):  # wrong usage, nothing collected
        return None
    if ok is None or exit_code in _STOPPED:
        return Run(checks, None)
    passed = _passed(segments, output, ok, "pipefail" in command)
    return Run(checks, passed, exit_code if exit_code and passed is False else None)


def _other(segments: list[_Segment], ok: bool | None, exit_code: int | None) -> Run | None:
    """Return the run of one command that is no check by its name, or None where it only looks or is more than one."""
    working = [segment for segment in segments if segment.words and segment.words[0] not in programs.HARMLESS]
    if len(working) != 1 or ok is None or exit_code in _STOPPED or any(segment.after == "||" for segment in segments):
        return None
    shown = list(dropwhile(_ASSIGNMENT.match, working[0].words))
    words, text = _unwrapped(shown), shlex.join(shown)
    if not words or words[0].rsplit("/", 1)[-1] in programs.LOOKING or _shell_text(shown) is not None:
        return None
    if len(text) > _OTHER_LONGEST:
        return None
    return Run((Check(f"$ {text}", (), _SECRET.sub(r"\1…", text)),), ok, None if ok else exit_code, known=False)


def _passed(segments: list[_Segment], output: str, ok: bool, pipefail: bool) -> bool | None:
    first = next(index for index, segment in enumerate(segments) if segment.check is not None)
    last = max(index for index, segment in enumerate(segments) if segment.check is not None)
    joins = [segment.after for segment in segments[first:-1]]
    chained = all(join == "&&" or (join in ("|", "|&") and pipefail) for join in joins)
    filtered = all(segment.words[:1] and segment.words[0] in _FILTERS for segment in segments[last + 1 :])
    alone = filtered and all(
        segment.check is not None or not segment.words or segment.words[0] in programs.HARMLESS
        for segment in segments[:last]
    )
    if chained and (ok or alone):
        return ok
    if _FAILED.search(output):
        return False
    if _PASSED.search(output):
        return True
    quiet = first == last and filtered and _is_quiet(segments[first].check)
    return True if ok and quiet and output.strip() in _QUIET else None


def _is_quiet(check: Check | None) -> bool:
    """Whether the check prints nothing when all is well."""
    return check is not None and check.family.split(" ")[0] in programs.QUIET


def _segments(command: str) -> list[_Segment]:
    if len(command) > _LONGEST or "<<" in command:
        return []
    lexer = shlex.shlex(command.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    segments: list[_Segment] = []
    words: list[str] = []
    try:
        for token in lexer:
            if token in _OPERATORS:
                segments += [_segment(words, token)] if words else []
                words = []
            else:
                words.append(token)
    except ValueError:  # a quotation that does not end
        return []
    return segments + ([_segment(words, "")] if words else [])


def _segment(words: list[str], after: str) -> _Segment:
    bare = _without_redirections(words)
    inner = _shell_text(bare)
    if inner is not None:
        nested = _segments(inner) if len(inner) < sum(map(len, words)) + len(words) else []
        check = nested[-1].check if len(nested) == 1 else None
        return _Segment(tuple(bare), after, check)
    return _Segment(tuple(bare), after, _check(_unwrapped(bare)))


def _shell_text(words: list[str]) -> str | None:
    if len(words) >= 3 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc"):
        return words[2]
    return None


def _without_redirections(words: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word and set(word) <= set("<>&|") and set(word) & set("<>"):
            skip = True
            if kept and kept[-1] in ("0", "1", "2"):
                kept.pop()
        else:
            kept.append(word)
    return kept


def _unwrapped(words: list[str]) -> list[str]:
    """Take off what stands before the program: assignments, `sudo`, `timeout 60`, `npx`, `uv run`, `python -m`."""
    words = list(words)
    while words:
        name = words[0].rsplit("/", 1)[-1]
        if _ASSIGNMENT.match(words[0]) or name in programs.WRAPPERS:
            words = words[1:]
        elif name == "timeout":
            words = [word for word in words[1:] if not word.startswith("-")][1:]
        elif len(words) > 1 and (name, words[1]) in programs.LAUNCHERS:
            words = words[2:]
        elif programs.INTERPRETERS.match(name) and len(words) > 1:
            words = words[2:] if words[1] == "-m" else words[1:]
            if words and words[0].startswith("-"):
                return []
        elif words[0].startswith("-") or (name in ("bash", "sh", "zsh") and len(words) > 1):
            words = words[1:]
        else:
            break
    return words


def _check(words: list[str]) -> Check | None:
    if not words:
        return None
    program = words[0].rsplit("/", 1)[-1].removesuffix(".exe")
    rest = words[1:]
    known = programs.CHECKS.get(program)
    if known is not None:
        rest, sub = _subcommand(rest)
        if sub not in known and not (program == "yarn" and programs.SCRIPT.search(sub)):
            return None
        family = f"{program} {sub}"
        if sub in programs.SCRIPT_RUNNERS and rest and program not in ("cargo", "go", "dotnet", "swift"):
            rest, script = _subcommand(rest)
            if not script or programs.SERVERS.match(script):
                return None
            family = f"{family} {script}"
    elif program in programs.GOAL_RUNNERS:
        goals = [word for word in rest if not word.startswith("-") and "=" not in word]
        family, rest = " ".join([program, *goals[:1]]), [word for word in rest if word not in goals[:1]]
    elif program in programs.PROGRAMS or (programs.SCRIPT.search(program) and program not in programs.LOOKING):
        family = program
    else:
        return None
    text = " ".join([family, shlex.join(rest)]).strip()
    return Check(family, _targets(rest), _SECRET.sub(r"\1…", text))


def _subcommand(words: list[str]) -> tuple[list[str], str]:
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in programs.VALUED:
            skip = True
        elif not word.startswith(("-", "+")):
            return words[:index] + words[index + 1 :], word
    return words, ""


def _targets(words: list[str]) -> tuple[str, ...]:
    """Return what narrows a check: files, names, and the values of selecting options."""
    found: list[str] = []
    selecting = ""
    for word in words:
        if selecting:
            found.append(f"{selecting} {word}")
            selecting = ""
        elif word in programs.SELECTING or word in programs.VALUED:
            selecting = word
        elif not word.startswith("-") and not word.isdigit() and not _SETTING.fullmatch(word) and word not in _ALL:
            found.append(word.removeprefix("./"))
    return tuple(sorted(set(found)))
