"""Text as US-ASCII: what a reader takes for the same is written, everything else is refused with its place."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.base.errors import InvalidInput
from segue.conversions.transliteration import plain

WRITTEN = {
    "plain text stays.": "plain text stays.",
    "“Quotes”, ‘single’, «guillemets», ‹one›, „low“": '"Quotes", \'single\', "guillemets", \'one\', "low"',
    "it’s 5′ 3″": "it's 5' 3\"",
    "2019–2024, well‑known, −5": "2019-2024, well-known, -5",
    "stop — or go—now": "stop - or go - now",
    "wait…": "wait...",
    "Café, naïve, Ångström, Łódź, Çeşme, năm, Việt": "Cafe, naive, Angstrom, Lodz, Cesme, nam, Viet",
    "Cafe\u0301, a\u0308, e\u0302\u0323": "Cafe, a, e",
    "ﬁne ﬂow oﬃce Ǆ ĳ": "fine flow office DZ ij",
    "Straße, œuvre, Æon, Øre, þing, ðe": "Strasse, oeuvre, Aeon, Ore, thing, de",
    "¿Qué? ¡No!": "Que? No!",
    "a → b ⇒ c ← d ↔ e": "a -> b => c <- d <-> e",
    "x ≠ y, x ≤ y, x ≥ y, x ≈ y, ± 3": "x != y, x <= y, x >= y, x ~ y, +/- 3",
    "=\u0338": "!=",
    "3 × 4 ÷ 2": "3 x 4 / 2",
    "10⁻³ s, 10²³, m², CO₂": "10^-3 s, 10^23, m^2, CO2",
    "2½ hours, ¾": "2 1/2 hours, 3/4",
    "5 µs, 20 °C, 0.5‰, § 5, № 3": "5 us, 20 degC, 0.5 per mille, section 5, No 3",
    "5 €, £3, ©, ®, X™": "5 EUR, GBP3, (C), (R), X(TM)",
    "ＡＢＣ１２＝": "ABC12=",
    "zero\u200bwidth soft\u00adhyphen \ufeffmark": "zerowidth softhyphen mark",
    "a\u00a0b\u2009c\u3000d": "a b c d",
    "one\r\ntwo\n\nthree\tfour  five\u2028six\x85seven": "one two three four five six seven",
    "  \n ": "",
}


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_what_is_written(text: str, written: str) -> None:
    assert plain(text, "goal").text == written


@pytest.mark.parametrize(
    "text",
    [
        *("Привет", "αβγ", "μ", "Ω", "日本語", "한국어", "สวัสดี", "عربي", "עברית", "हिन्दी", "、", "「"),
        *("🙂", "✓", "✗", "☐", "❌", "👍🏽", "🇫🇷"),
        # Signs that carry the meaning, and have no form in ASCII that says it without doubt.
        *(
            "¬",
            "∞",
            "√",
            "∑",
            "∀",
            "∃",
            "∈",
            "∉",
            "≮",
            "≡",
            "⊂",
            "∧",
            "∨",
            "⌈",
            "⌊",
            "‖",
            "‱",
            "†",
            "¶",
            "⁄",
            "¥",
            "¢",
            "¤",
        ),
        # A struck-out letter, a mark on a sign or a digit, an enclosed one.
        *("d\u0336o\u0336n\u0336e", "=\u0302", "5\u0305", "a\u20e0", "\u0301"),
        # Another alphabet that only looks like this one; sounds, clicks, indices.
        *("а", "е", "ə", "ɛ", "ǀ", "ƒ", "ₐ", "ⁿ", "\u212a", "\u037e", "\u1fef"),
        # What would run into the digit beside it.
        *("½5", "10²3", "x₁2", "5₂"),
        *("\x00", "\x1b[31m", "\u202e", "\u2066", "\ue000", "\U000e0041", "\ud800", "\uffff"),
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        plain(f"ok {text} ok", "constraints[0]")
    assert refused.value.code == "capsule.transliteration"
    assert refused.value.details["path"] == "constraints[0]"
    assert refused.value.message.startswith("constraints[0]: character ")
    assert refused.value.message.isascii()


@pytest.mark.parametrize(
    ("text", "position", "character"),
    [
        ("漢", 1, "U+6F22"),
        ("  ab\n\n c\td漢", 11, "U+6F22"),
        ("e\u0301e\u0301\u0436", 5, "U+0436"),
        ("½ ½5", 3, "U+00BD"),
        ("и\u0306", 1, "U+0438"),
        ("as\u0336", 3, "U+0336"),
        ("… … ∞", 5, "U+221E"),
    ],
)
def test_the_place_is_that_of_the_text_as_given(text: str, position: int, character: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        plain(text, "goal")
    assert refused.value.details == {"path": "goal", "position": position, "character": character}


def test_every_replacement_is_said() -> None:
    result = plain("“é” — ½, 1½, m²\u200b e\u0301", "goal")
    assert result.text == '"e" - 1/2, 1 1/2, m^2 e'
    assert result.replaced == {
        "“": '"', "é": "e", "”": '"', "—": "-", "½": "1/2", "²": "^2", "\u200b": "", "e\u0301": "e",
    }  # fmt: skip
    assert plain("nothing to see", "goal").replaced == {}


@given(st.text())
def test_the_result_is_ascii_on_one_line_or_the_text_is_refused(text: str) -> None:
    try:
        result = plain(text, "goal")
    except InvalidInput as error:
        assert text[error.details["position"] - 1] not in " \n" + "".join(map(chr, range(33, 127)))
        return
    assert all(" " <= char <= "~" for char in result.text)
    assert result.text == " ".join(result.text.split())
    assert plain(result.text, "goal").text == result.text
    changed = " ".join(text.split()) != result.text
    assert bool(result.replaced) == changed


def test_no_letter_or_digit_of_another_script_is_ever_written() -> None:
    """Every character that there is: what is written for a letter or a digit has a Latin name, or is listed."""
    written = []
    for point in range(0xA0, sys.maxunicode + 1):
        char = chr(point)
        if unicodedata.category(char)[0] not in "LN" or 0x3400 <= point <= 0x9FFF or 0xAC00 <= point <= 0xD7A3:
            continue
        try:
            plain(char, "goal")
        except InvalidInput:
            continue
        written.append(char)
    others = [char for char in written if not unicodedata.name(char).startswith(("LATIN ", "FULLWIDTH ", "VULGAR "))]
    assert set(others) == set("ªºµ⁰¹²³⁴⁵⁶⁷⁸⁹")
    assert len(written) < 900
