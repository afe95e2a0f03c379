"""Candidates for the tests of packing, plain and drawn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from segue.context.candidate import Candidate
from segue.context.layers import INTENTS, PACK_LAYERS
from segue.context.profiles import PROFILES, Profile, Weights
from segue.context.utility import Valued
from segue.memories.item import Provenance
from segue.memories.memory import Memory

if TYPE_CHECKING:
    from segue.context.layers import PackLayer

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
# A reader whose utility is relevance alone, so that expectations can be worked out by hand.
RELEVANT = Profile("relevant", 8_000, 6_000, 4.0, Weights(1.0, 0.0, 0.0))
_WRITTEN = Provenance(origin="text", ref="notes#1", author_class="user")
_NUMBERS = count()


def candidate(content: str, layer: PackLayer = "facts", *, relevance: float | None = None, **changed: Any) -> Candidate:
    """Return a candidate; `changed` are members of its memory."""
    members: dict[str, Any] = {
        "id": f"mem_{next(_NUMBERS):05}",
        "kind": "claim",
        "layer": "semantic",
        "provenance": _WRITTEN,
        "captured_at": NOW,
        "content_hash": "sha256:" + "0" * 64,
        "status": "active",
        "trust": 0.5,
    }
    return Candidate(Memory(content=content, **(members | changed)), layer, relevance)


def valued(content: str, utility: float, cost: int, layer: PackLayer = "facts") -> Valued:
    """Return an item that is worth and costs what is said."""
    return Valued(candidate(content, layer), utility, cost)


# Few words, so that texts are alike; some of each kind of script.
WORDS = "the importer queue retries port 8080 never twice ملف الخادم يعيد तेज़ सर्वर 服务器 端口 เซิร์ฟเวอร์ 👩‍💻 é".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join)
SENTENCES = st.lists(TEXTS, min_size=1, max_size=4).map(". ".join)


@st.composite
def candidates(draw: st.DrawFn, most: int = 14) -> list[Candidate]:
    """Draw candidates in the order of their arrival, some of them alike, some with a summary."""
    drawn = draw(
        st.lists(
            st.tuples(
                SENTENCES,
                st.sampled_from(PACK_LAYERS),
                st.none() | st.floats(0, 1),
                st.just("") | TEXTS,
                st.floats(0, 1),
                st.integers(-3, 400),
            ),
            max_size=most,
        )
    )
    return [
        candidate(
            content,
            layer,
            relevance=relevance,
            id=f"mem_{number:05}",
            summary=summary,
            trust=trust,
            captured_at=NOW - timedelta(days=days),
        )
        for number, (content, layer, relevance, summary, trust, days) in enumerate(drawn)
    ]


PROFILE = st.sampled_from(PROFILES)
INTENT = st.sampled_from(INTENTS)
