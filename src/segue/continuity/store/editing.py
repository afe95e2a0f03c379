"""Changes of a memory store, as plans: each says which files become what, and the store after it is checked first.

Whatever a change is not about stays as it is, to the byte.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from segue.base import jsontext, redaction
from segue.base import text as texts
from segue.base.errors import Ambiguous, InvalidInput, NotFound
from segue.base.redaction import RedactionRefused, shown
from segue.continuity.receipt import is_inside
from segue.continuity.store import detail as details
from segue.continuity.store import doctor, head, index, labels, layout
from segue.continuity.store.fault import require_none
from segue.continuity.store.layout import ARCHIVE, INDEX
from segue.continuity.store.snapshot import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from segue.continuity.store.detail import Detail
    from segue.continuity.store.doctor import Checked
    from segue.continuity.store.index import Index
    from segue.continuity.store.snapshot import Snapshot

STALE = "stale"  # the status of an archived fact
MAX_DESCRIPTION = 500  # characters
MAX_BODY = 32 * 1024
MAX_REASON = 500
_MEND = "Reword it: a memory that lasts holds no secret"
# The steps by which an index gets shorter: characters of hooks and of glosses, and whether its lines move together.
_ANY = layout.HARD_BYTES
_TIGHTER = (
    (_ANY, _ANY, False),
    (_ANY, _ANY, True),
    (80, 90, True),
    (80, 60, True),
    (60, 40, True),
    (60, 24, True),
    (40, 16, True),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact that is to be kept. `source_path` is relative to the project; `candidate` is what it was before, or ""."""

    name: str
    kind: str
    description: str
    body: str
    source_path: str
    source_transaction: str
    candidate: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change and what it does; the id and the name are those of the fact that it is about."""

    plan: Plan
    action: Literal["added", "updated", "archived", "moved", "none"]
    memory_id: str
    name: str


def checked_entry(entry: Entry) -> Entry:
    """Return an entry that can be kept, its texts trimmed.

    Raises InvalidInput `memory.name`, `memory.kind`, `memory.description`, `memory.body`, `memory.source_path`,
    RedactionRefused `memory.redaction`.
    """
    name, kind = layout.checked_name(entry.name), layout.checked_kind(entry.kind)
    description, body = entry.description.strip(), entry.body.strip("\r\n")
    if not description or len(description) > MAX_DESCRIPTION or not _is_text(description):
        raise InvalidInput("memory.description", f"a description is a text of at most {MAX_DESCRIPTION} characters")
    if not body.strip() or len(body) > MAX_BODY or not _is_text(body):
        raise InvalidInput("memory.body", f"the text of a fact is not empty and has at most {MAX_BODY:,} characters")
    require_labels(kind, body)
    source = entry.source_path.replace("\\", "/")
    if not is_inside(source) or not _is_text(source) or any(each < " " for each in source):
        raise InvalidInput("memory.source_path", "the source is named by its path in the project, such as docs/plan.md")
    fields = {"name": name, "description": description, "body": body, "source_path": source}
    found = [each for path, text in fields.items() for each in redaction.credentials(path, text)]
    if found:
        raise RedactionRefused(found, "memory.redaction", _MEND)
    return replace(entry, name=name, description=description, body=body, source_path=source)


def _is_text(text: str) -> bool:
    return jsontext.is_unicode(text) and "\0" not in text


def require_labels(kind: str, body: str) -> None:
    """Raise InvalidInput `memory.body` where a text lacks what its kind needs."""
    lacking = labels.missing(kind, body)
    if lacking:
        said = "`, `".join(f"{each}:" for each in lacking)
        raise InvalidInput("memory.body", f"a {kind} says `{said}`; its text lacks that", {"missing": lacking})


def find(checked: Checked, reference: str, *, archive: bool = False) -> Detail:
    """Return the fact with that name, id (`MEM-001`) or candidate (`M-0001`); with `archive` also an archived one.

    Raises NotFound `memory.not_found`, Ambiguous `memory.ambiguous`.
    """
    held: list[Detail] = [*checked.details.values(), *(checked.archived.values() if archive else [])]
    wanted = unicodedata.normalize("NFC", reference).strip().removesuffix(".md")
    found = [each for each in held if wanted and wanted in (each.name, _name_before(checked, each))]
    if not found and wanted:
        ids = [each for each in held if wanted in (each["memory_id"], each[details.CANDIDATE])]
        found = ids or [each for each in held if 0 <= each.number == _number(wanted)]
    live = [each for each in found if each.file in checked.details]
    if len(live) > 1:
        raise Ambiguous("memory.ambiguous", f"more than one fact is called '{shown(reference, 64)}'")
    if found:
        return max(live or found, key=lambda each: each.number)  # of those in the archive the one that came last
    raise NotFound("memory.not_found", f"no fact of this project's memory is called '{shown(reference, 64)}'")


def _name_before(checked: Checked, detail: Detail) -> str:
    """What an archived fact was called: another one of its name may lie there already."""
    return "" if detail.file in checked.details else detail["name"]


def _number(text: str) -> int:
    match = layout.MEMORY_ID.fullmatch(text)
    return int(match[1]) if match else -1


# -- the changes ------------------------------------------------------------------------------------------------------


def upsert(checked: Checked, entry: Entry, today: str) -> Edit:
    """Return what keeps an entry: in its file where the store has one of that name, else in a new one.

    `entry` comes from `checked_entry`; `today` is a date. Raises InvalidInput `memory.heading`, `memory.invalid`.
    """
    file = layout.file_of(entry.name)
    known = checked.details.get(file)
    values = {
        "description": entry.description,
        "kind": entry.kind,
        "source_transaction": entry.source_transaction,
        "source_path": entry.source_path,
        "updated": today,
        **({details.CANDIDATE: entry.candidate} if entry.candidate else {}),
    }
    if known is not None:
        memory_id = known["memory_id"]
        text = head.edited(known.text, values, entry.body)
    else:
        memory_id = checked.next_id()
        text = _new_file({"memory_id": memory_id, "name": entry.name, **values, "created": today}, entry.body)
    pointed = checked.index.with_pointer(
        entry.kind, entry.description, file, said_beside(entry.kind, entry.body, entry.source_path)
    )
    plan = Plan({file: text.encode("utf-8"), INDEX: pointed.data})
    require_no_worse(checked, plan)
    return Edit(plan, "added" if known is None else "updated", memory_id, entry.name)


def _new_file(values: Mapping[str, str], body: str) -> str:
    given = {**values, "status": details.ACTIVE}
    order = [*details.REQUIRED, *(key for key in given if key not in details.REQUIRED)]
    lines = "".join(f"{key}: {head.quoted(given[key])}\n" for key in order)
    return f"---\n{lines}---\n\n{head.laid_out(body)}"


def said_beside(kind: str, body: str, source_path: str) -> str:
    """Return what the index says of a fact beside its hook: what to do, what holds instead, or where to look."""
    found = labels.texts(body)
    label = labels.CANONICAL if kind == "correction" else labels.HOW
    text = "" if kind == "reference" else found.get(label, "")
    return next((line.strip() for line in text.splitlines() if line.strip()), source_path)


def archive(checked: Checked, file: str, today: str, reason: str) -> Edit:
    """Return what takes a fact out of the index and into the archive, where it says that it is stale, and why.

    Raises InvalidInput `memory.reason` for no reason.
    """
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON or not _is_text(reason):
        raise InvalidInput("memory.reason", f"say in at most {MAX_REASON} characters why it does not hold any more")
    found = redaction.credentials("reason", reason)
    if found:
        raise RedactionRefused(found, "memory.redaction", _MEND)
    detail = checked.details[file]
    changes = {"status": STALE, "updated": today, "stale_reason": reason}
    place = _place_in_archive(checked, detail)
    pointed = checked.index
    while (pointer := pointed.pointer(file)) is not None:
        pointed = pointed.without(pointer.line)
    plan = Plan({place: head.edited(detail.text, changes).encode("utf-8"), INDEX: pointed.data}, (file,))
    return Edit(plan, "archived", detail["memory_id"], detail.name)


def _place_in_archive(checked: Checked, detail: Detail) -> str:
    """A file that the archive does not have yet, in capitals neither: an older fact of that name keeps its own."""
    taken = {each.lower() for each in checked.snapshot.archived}
    names = [detail.name, f"{detail.name}-{detail['memory_id'].lower()}"]
    names += [f"{names[1]}-{number}" for number in range(2, len(taken) + 3)]
    return next(place for name in names if (place := f"{ARCHIVE}/{name}.md").lower() not in taken)


def rekind(checked: Checked, file: str, kind: str, today: str) -> Edit:
    """Return what makes a fact one of another kind: in its file and in the index.

    Raises InvalidInput `memory.kind`, `memory.body` where its text lacks what that kind needs, `memory.invalid`.
    """
    kind, detail = layout.checked_kind(kind), checked.details[file]
    require_labels(kind, detail.body)
    pointer = checked.index.pointer(file)
    if pointer is not None and pointer.kind == kind == detail["kind"]:
        return Edit(Plan(), "none", detail["memory_id"], detail.name)
    hook = pointer.hook if pointer else detail["description"]
    pointed = checked.index.with_pointer(kind, hook, file, said_beside(kind, detail.body, detail.source_path))
    text = head.edited(detail.text, {"kind": kind, "updated": today})
    plan = Plan({file: text.encode("utf-8"), INDEX: pointed.data})
    require_no_worse(checked, plan)
    return Edit(plan, "moved", detail["memory_id"], detail.name)


def refresh(checked: Checked, file: str, today: str, *, hook: str, gloss: str) -> Edit:
    """Return what brings date and pointer of a fact up to what its file says now.

    `hook` and `gloss` are what the index was to say of it before: a text that somebody has worded otherwise stays.
    """
    detail = checked.details[file]
    pointer = checked.index.pointer(file)
    pointed = checked.index
    if pointer is not None:
        new_hook, new_gloss = pointing(detail)
        hook = new_hook if index.is_written(pointer.hook, hook) else pointer.hook
        gloss = new_gloss if index.is_written(pointer.gloss, gloss) else pointer.gloss
        pointed = pointed.with_pointer(pointer.kind, hook, file, gloss)
    text = head.edited(detail.text, {"updated": today})
    plan = Plan({file: text.encode("utf-8"), INDEX: pointed.data})
    return Edit(plan, "updated", detail["memory_id"], detail.name)


def pointing(detail: Detail) -> tuple[str, str]:
    """Return what the index says of a fact: the hook and the gloss of its pointer."""
    return detail["description"], said_beside(detail["kind"], detail.body, detail.source_path)


def duplicates(checked: Checked) -> dict[str, str]:
    """Return which facts say what an older one of the same kind says already: file, and the id of the older one.

    Corrections say the same where their old and their new wording are the same; others where the whole text is. A
    fact without a text of its own says what its description says.
    """
    first: dict[tuple[str, ...], Detail] = {}
    found: dict[str, str] = {}
    for detail in sorted(checked.details.values(), key=lambda each: (each.number, each.file)):
        if not detail.is_active:
            continue
        said = _said(detail)
        if said in first:
            found[detail.file] = first[said]["memory_id"]
        first.setdefault(said, detail)
    return found


def _said(detail: Detail) -> tuple[str, ...]:
    kind, labelled = detail["kind"], detail.labelled
    if kind == "correction" and labelled.get(labels.ORIGINAL) and labelled.get(labels.CANONICAL):
        return kind, texts.fold(labelled[labels.ORIGINAL]), texts.fold(labelled[labels.CANONICAL])
    where = texts.fold(detail.source_path) if kind == "reference" else ""
    body = texts.fold(detail.body)
    return kind, body, where, "" if body else texts.fold(detail["description"])


def without_double_pointers(found: Index) -> Index:
    """Return an index in which each file is pointed to once: where it is first."""
    while True:
        line = next((each.line for each in found.faults if each.code == "index.duplicate"), 0)
        if not line:
            return found
        found = found.without(line)


def tightened(found: Index) -> Index:
    """Return an index within its soft limits, hooks and glosses cut as little as it takes; the most that it can be.

    One that is within them loses no more than doubled empty lines.
    """
    best = found
    for hook, gloss, close in _TIGHTER:
        best = found.tightened(hook, gloss, close=close)
        if not any(each.code in ("index.soft_cap", "index.hard_cap") for each in best.faults):
            break
    return best


def between(before: Snapshot, after: Snapshot) -> Plan:
    """Return the change that makes one state of a store of another."""
    writes = {name: data for name, data in after.files.items() if before.files.get(name) != data}
    return Plan(writes, tuple(sorted(before.files.keys() - after.files.keys())))


def require_no_worse(checked: Checked, plan: Plan) -> Checked:
    """Return the store after a change. Raises InvalidInput `memory.invalid` where the change brings a fault in."""
    after = doctor.check(plan.after(checked.snapshot), checked)
    left = Counter((each.code, each.file) for each in checked.faults)  # a message tells lines, which move
    new = []
    for each in after.faults:
        left[each.code, each.file] -= 1
        new += [each] if left[each.code, each.file] < 0 else []
    require_none(new, "the memory would not be in order after that")
    return after
