"""Stop: whether the agent's last answer says that something was remembered which nothing proves.

A receipt of the project that is bound to this very answer proves it. The store is read where something is claimed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segue.base import redaction
from segue.base.untrusted import one_line, shorten

if TYPE_CHECKING:
    from segue.hosts.calling import Call

MOST_READ = 100_000  # characters of an answer, from its end
MOST_SHOWN = 3
_LENGTH = 200  # characters of a sentence that is shown
_UNPROVEN = "no receipt proves it"


def answer(call: Call) -> dict[str, Any] | None:
    """Return a warning for the user or, where the call blocks, a reason for the agent; None without such claims.

    An answer is blocked once: not where the host says that it goes on because of a hook already.
    """
    whole = call.text("last_assistant_message")
    message = whole[-MOST_READ:]
    sentences = claimed(message) if message.strip() else ()
    if not sentences or _is_bound(call, whole):
        return None
    said = "; ".join(f"“{each}”" for each in map(_shown, sentences[:MOST_SHOWN]))
    if call.block and call.given.get("stop_hook_active") is not True:
        return {
            "decision": "block",
            "reason": (
                f"The last answer says {said}, but {_UNPROVEN}. Where a tool of Segue has stored it in this session, "
                "nothing is to be changed. Else it is stored now (the tool remember_this or save), or the answer is "
                "corrected to say that it was not stored."
            ),
        }
    return {"systemMessage": f"Segue: the agent says {said}, but {_UNPROVEN}. `segue search` shows what is stored."}


def claimed(message: str) -> tuple[str, ...]:
    """Return the sentences which claim that something was remembered, recorded or saved to memory."""
    from segue.continuity import claims

    return tuple(dict.fromkeys(each.sentence for each in claims.find(message) if each.of_memory))


def _is_bound(call: Call, message: str) -> bool:
    from segue.hosts.receipt_rows import is_bound  # most answers claim nothing

    return is_bound(call, message)


def _shown(sentence: str) -> str:
    masked = redaction.mask(redaction.Field("sentence", sentence, True))[0]
    return shorten(one_line(masked), _LENGTH)
