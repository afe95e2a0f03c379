"""The redaction pre-flight: finds secrets and machine-local state in text that is about to travel.

The core set is the specification's ("Redaction"; patterns in section 000.2 of the facts, decision P4); the
extended set goes beyond it (decision P6). Memories are searched for the core set and for the credentials of the
extended one. RE2 keeps every match linear in time. One set of all patterns looks at all fields at once, so that
clean text, the usual case, costs one pass.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import re2

from segue.base.errors import Refused
from segue.base.redaction_patterns import CORE, EXTENDED, Pattern
from segue.base.untrusted import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SHOWN_LENGTH = 32
ON_PURPOSE = " (--allow-unredacted, allow_unredacted in a call)"
_MASKED = "-----BEGIN …"
_PATH = "abs-path"
_SET_MEMORY = 64 << 20
_MAX_REJECTED = 1_000
_LISTED_KINDS = 5
_SHOWN_SOURCE = 512
_MASK_ROUNDS = 4
_KEY_END = re.compile(r"(?=(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----))")
_KEY_BODY = re.compile(r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,}+)*(?:(?:\s|\\[nr])*[A-Za-z0-9+/]*={1,2})?")


class Field(NamedTuple):
    """A text with its `path` in a document; `core` says whether the specification's scan covers it."""

    path: str
    text: str
    core: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """The first match of one pattern in one field.

    `kind` is `constraints[0]/aws-key`, or `constraints[0]/ext/port` beyond the core set. `found` is the matched
    text, at most 32 characters and then `…`; a key header is masked. It is for the writer's own terminal only:
    logs, receipts and answers to others carry `kind` alone (decision P5).
    """

    path: str
    label: str
    extended: bool
    found: str

    @property
    def kind(self) -> str:
        return f"{self.path}/ext/{self.label}" if self.extended else f"{self.path}/{self.label}"


class RedactionRefused(Refused):
    """A text holds what must not travel. `findings` is for the writer's own eyes; `details` names fields only.

    `code` and `mend` say which document was refused, and what to do about it.
    """

    def __init__(
        self,
        findings: Sequence[Finding],
        code: str = "packet.redaction",
        mend: str = "Reword them, replace them with `segue check --fix`, or save it as it is on purpose" + ON_PURPOSE,
    ) -> None:
        kinds = [finding.kind for finding in findings]
        listed = ", ".join(kinds[:_LISTED_KINDS]) + (" …" if len(kinds) > _LISTED_KINDS else "")
        count = f"{len(kinds)} redactable {'text' if len(kinds) == 1 else 'texts'}"
        message = f"redaction failed: {count} ({listed}). {mend}"
        super().__init__(code, message, {"redaction": kinds})
        self.findings = tuple(findings)
        self.mend = mend

    def __reduce__(self) -> tuple[Any, ...]:
        return RedactionRefused, (self.findings, self.code, self.mend)


def scan(fields: Iterable[Field], *, core_only: bool = False, credentials: bool = False) -> list[Finding]:
    """Return what the fields hold that must not travel: one finding for each (field, pattern), in field order.

    `core_only` goes by the core set; with `credentials` also by what of the extended one lets somebody in.

    Text with a lone surrogate is not Unicode text and must have been refused before (ValueError).
    """
    scanner = _scanner(core_only, credentials)
    listed = [field for field in fields if field.core or not core_only]
    if not scanner.any("\n".join([field.text for field in listed])):
        return []
    return [finding for field in listed for finding in _scan_field(scanner, field)]


def credentials(path: str, text: str) -> list[Finding]:
    """Return what in a text lets somebody in; that it names a path or the like is no matter here."""
    found = scan([Field(path, text, True)], core_only=True, credentials=True)
    return [each for each in found if each.label != _PATH]


def scan_text(text: str, *, path: str = "text", core_only: bool = False) -> list[Finding]:
    """Return the findings of one text, as a core field named `path`."""
    return scan([Field(path, text, True)], core_only=core_only)


def mask(field: Field, *, core_only: bool = False, credentials: bool = False) -> tuple[str, list[Finding]]:
    """Return the field's text with every match as `[redacted:<label>]`, and what was found in it.

    Nothing findable is left in the text. A private key goes as a whole, not its header alone.
    """
    scanner = _scanner(core_only, credentials)
    text = field.text
    findings: list[Finding] = []
    for _ in range(_MASK_ROUNDS):  # a marker can bring out a match that the text before it had hidden
        found = _scan_field(scanner, field._replace(text=text))
        if not found:
            return text, findings
        known = {finding.kind for finding in findings}
        findings += [finding for finding in found if finding.kind not in known]
        text = _masked(text, scanner.matching(text))
    return marker(findings[0].label), findings


def shown(text: str, length: int) -> str:
    """Return foreign text for a message: on one line, at most `length` characters, secrets masked."""
    readable = text[:_SHOWN_SOURCE].encode("utf-8", "backslashreplace").decode()
    return shorten(one_line(mask(Field("", readable, True))[0]), length)


def harmless(text: str) -> str:
    """Return `text` with all that lets somebody in masked; paths and the like stay: for messages to who wrote it."""
    readable = text.encode("utf-8", "backslashreplace").decode()
    for _ in range(_MASK_ROUNDS):
        found = credentials("text", readable)
        if not found:
            return readable
        patterns = _scanner(True, True).matching(readable)
        readable = _masked(readable, [each for each in patterns if each.label != _PATH])
    return marker(found[0].label)


def marker(label: str) -> str:
    """Return what stands for a masked text."""
    return f"[redacted:{label}]"


def _masked(text: str, patterns: list[_Compiled]) -> str:
    """Replace every match. Matches that overlap go as one: what one pattern leaves may be the secret of another."""
    hides_keys = any(pattern.hidden for pattern in patterns)
    closings = [closing.span(1) for closing in _KEY_END.finditer(text)] if hides_keys else []
    spans = sorted(
        (start, _end_of_key(text, stop, closings) if pattern.hidden else stop, pattern.label)
        for pattern in patterns
        for start, stop in pattern.spans(text)
    )
    pieces, end = [], 0
    for start, stop, label in spans:
        if start >= end:
            pieces += [text[end:start], marker(label)]
        end = max(end, stop)
    return "".join([*pieces, text[end:]])


def _end_of_key(text: str, start: int, closings: list[tuple[int, int]]) -> int:
    """Return where the key ends whose header ends at `start`: with its END line, else with its base64 text.

    `closings` are the spans of all END lines, found once: a search from each header would be quadratic.
    """
    following = bisect_left(closings, (start, start))
    if following < len(closings):
        return closings[following][1]
    body = _KEY_BODY.match(text, start)
    return body.end() if body else start


def _scan_field(scanner: _Scanner, field: Field) -> list[Finding]:
    findings: list[Finding] = []
    for pattern in scanner.matching(field.text):
        extended = pattern.extended or not field.core
        if pattern.extended and any(found.label == pattern.label for found in findings):
            continue  # two spellings of one kind of thing; the core's patterns are counted one by one
        first = next(pattern.spans(field.text), None)
        if first is not None:
            text = field.text[first[0] : first[1]]
            shown = _MASKED if pattern.hidden else shorten_match(text)
            findings.append(Finding(field.path, pattern.label, extended, shown))
    return findings


def shorten_match(text: str) -> str:
    """Return the first 32 characters of `text`, and `…` where there are more (section 000.2 of the facts)."""
    return text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "…"


class _Compiled:
    """A pattern ready to search; group 1, where there is one, is what counts as found."""

    def __init__(self, pattern: Pattern, extended: bool) -> None:
        self.label = pattern.label
        self.hidden = pattern.hidden
        self.extended = extended
        self._accepts = pattern.accepts
        self._regex = re2.compile(pattern.regex, _options())
        self._group = 1 if self._regex.groups else 0

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        rejected = 0
        for match in self._regex.finditer(text):
            # No honest field holds a thousand near misses; one that does is reported, and the time stays bounded.
            if self._accepts is None or rejected > _MAX_REJECTED or self._accepts(match, text):
                yield match.span(self._group)
            else:
                rejected += 1


class _Scanner:
    """All patterns of a mode: as one set, which says quickly which of them can match."""

    def __init__(self, patterns: list[_Compiled], sources: list[Pattern]) -> None:
        self.patterns = patterns
        self._set = re2.Set.SearchSet(_options())
        for source in sources:
            self._set.Add(source.regex)
        self._set.Compile()

    def any(self, text: str) -> bool:
        return bool(self._set.Match(text))

    def matching(self, text: str) -> list[_Compiled]:
        return [self.patterns[index] for index in sorted(self._set.Match(text) or ())]


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    return options


@cache
def _scanner(core_only: bool, credentials: bool) -> _Scanner:
    beyond = [each for each in EXTENDED if not core_only or (credentials and each.credential)]
    sources = [*CORE, *beyond]
    return _Scanner([_Compiled(source, source not in CORE) for source in sources], sources)
