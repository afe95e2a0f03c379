"""English idioms put in plain words, so that few forms are left to judge. Places and lengths are not kept."""

from __future__ import annotations

import re

from segue.continuity.claim_words import DONE

_MEMORY = r"((?:my |your |our |the |project |project's |long-term )*memory)"
_LEDGER = r"(?=in (?:the |our )?(?:study|project|project's|session) (?:log|records?)\b)"
_NOW = r"(?:now |already |safely )?"
_THIS = r"(it|this|that|them)"
_HELD = (
    r"(?:\b(?:my|your|our|project's|project|long-term) memory(?: store| file| index)?|[\w./-]{0,60}memory\.md|"
    r"\b(?:study|session|project|qa) (?:log|ledger|records?|file)|[\w./-]{0,60}project_study_\w{1,20}\.md)"
)
_WENT_WELL = r"(?:has |have )?(?:succeeded|went through|(?:is |was )?(?:successful|complete|completed|done))\b"
_ITEM = "memory|record|handoff|preference|correction|fact|receipt"
_TOLD = (
    "(?:you|we|i)(?:'ve| have)?(?: just)? "
    "(?:told|said|asked|decided|agreed|discussed|corrected|taught|requested|learned|shared)"
)
_YOURS = r"(?:your|the|all|both|these) [\w'-]{1,40}(?: [\w'-]{1,40})?"
_DEEDS = {
    "saving": "saved", "storing": "stored", "recording": "recorded", "persisting": "persisted", "adding": "added",
    "writing": "wrote", "putting": "put", "logging": "logged", "noting": "noted", "updating": "updated",
    "committing": "committed",
}  # fmt: skip
_BASES = {"save": "saved", "store": "stored", "record": "recorded", "add": "added", "write": "wrote", "log": "logged"}

_IDIOMS = [
    (re.compile(pattern), put)
    for pattern, put in (
        # What denies or promises nothing
        (
            r"\b(?:no|not a|without any) (?:worries|problems?|trouble|sweat)\b|\b(?:do not|don't) (?:worry|panic)\b",
            "so ,",
        ),
        (r"\bno need to \w+\b|\bnot to worry\b|\bnot (?:only|just|merely)\b|\bno longer\b", " "),
        (r"^(?:ok|okay|great|alright|sure|perfect|yes|right|understood|thanks)\b(?! to)", " "),
        (r"\bdone\b(?= ?$| ?[.!,;:—–-])", " "),
        (r"\bi wish\b", "i hope"),
        # What was done in the end
        *((rf"\b(?:finished|completed) {doing}\b", done) for doing, done in _DEEDS.items()),
        *((rf"\b(?:remembered|managed) to {do}\b", done) for do, done in {**_BASES, "note": "noted"}.items()),
        (r"\bgot (?=(?:\w+ly )?(?:saved|stored|recorded|persisted|remembered|logged|written|added)\b)", "was "),
        (
            r"\b(?:made it|went|landed|ended up|is in place|are in place) (into|in) (?=[^,;:]{0,30}\bmemory\b)",
            r"was stored \1 ",
        ),
        (
            rf"\b({_ITEM}) (?:write|save|update|sync|upsert) {_WENT_WELL}",
            r"\1 was saved",
        ),
        (
            rf"\b(m(?:em)?-\d{{1,9}}) (?:is|are) {_NOW}in (?=(?:the |your |our |project )*(?:index|store|memory)\b)",
            r"\1 is stored in ",
        ),
        # Words that belong together
        (r"\bup to date\b", "up-to-date"),
        (r"\blong term\b", "long-term"),
        (r"\babout to\b", "about-to"),
        (r"\bto (be|have)\b", r"to-\1"),
        (r"\bso that\b", "so-that"),
        (r"\b(confirm|confirmed) (?=(?:the|your|my|our|this|all|both|it|everything)\b)", r"\1 that "),
        (r"\b(?:i|we|i've|we've) (?:have )?made sure(?: that)?\b", ", "),
        # What is said without the verb
        (r"\b(?:pass|passe[sd]) (?:all |the |its )?(?:validation|verification|checks)\b", "is validated"),
        (r"\b(?:validation|verification) (?:has )?(?:passed|succeeded|is complete|complete)\b", "validated"),
        (rf"\b(i|we) (?:now )?have {_THIS} (saved|stored|recorded)\b", r"\1 have \3 \2"),
        (
            rf"\b(i|we) (?:now )?have ({_THIS[1:-1]}|{_YOURS}) on (?:file|record)\b",
            r"\1 have recorded \2",
        ),
        (
            rf"\b(?:i|we)(?:'ve| have) (?:got )?{_THIS} in (?=(?:my|our|long-term|project|the project))",
            r"i have stored \1 in ",
        ),
        (r"\b(is|are|was|now) (?:now )?on (?:the )?(?:record|file)\b", r"\1 recorded"),
        (rf"\b(?:is|are) {_NOW}part of {_MEMORY}\b", r"is stored in \1"),
        (rf"\b(?:is|are) {_NOW}in {_MEMORY}\b", r"is stored in \1"),
        (rf"\b(?:is|are) {_NOW}{_LEDGER}", "is recorded "),
        (
            rf"\b(it|that|this|everything|all)'s {_NOW}in (?=(?:my |your |our |the |long-term )*(?:memory|project))",
            r"\1 is stored in ",
        ),
        (
            rf"^what {_TOLD}\b(?: [\w'-]{{1,40}}){{0,8}}? (?=(?:is|are|was|has|have)\b)",
            "this information ",
        ),
        (r"\b(?:lives?|sits|resides?) (?:\w+ )?(?=in )", "is stored "),
        (
            rf"({_HELD}) (?:now|already) (?:holds|contains|includes|has|reflects|lists)\b",
            r"; saved to \1 ,",
        ),
        (r"\bupdated what i (?:remember|know)\b", "updated my memory"),
        (r"\bto (?:what i know(?: about you)?|my knowledge)\b", "to my memory"),
        (r"\b(?:made|taken|took) (?:an? )?(?:quick |mental )?notes? of\b", "noted"),
        (r"\bmade (?:an? )?(?:permanent|lasting) (?:note|record) of\b", "recorded"),
        (rf"\b(?:wrote|written|put|jotted) (?:{_THIS} )?down\b", r"noted \1"),
    )
]
_ANY = re.compile("|".join(re.sub(r"\((?!\?)", "(?:", pattern.pattern) for pattern, _ in _IDIOMS))
_PAIR = re.compile(r"(?<![\w/])([a-z]{1,20})/([a-z]{1,20})(?![\w/])")


def plain(sentence: str) -> str:
    """Return a folded sentence without idioms, and "saved/validated" as two words."""
    if _ANY.search(sentence):
        for pattern, put in _IDIOMS:
            sentence = pattern.sub(put, sentence)
    return _PAIR.sub(lambda pair: f"{pair[1]} and {pair[2]}" if {pair[1], pair[2]} <= DONE else pair[0], sentence)
