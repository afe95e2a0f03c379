"""Claims that something is kept: what claims, what does not, and how often both are told is measured."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.continuity.claims import find

CORPUS = Path(__file__).parents[1] / "corpora" / "claims"
MEGABYTE = 1_000_000
# Words that claims and their denials are made of, so that random texts come near to both.
SPOKEN = (
    "I've I have not saved recorded this your preference to memory the handoff is ready was never will if record , . "
    "? ! but and that receipt validated formal document has been It Memory updated now 已 已保存 记忆 未 记住 "
    '了 文档 已生成 ， 。 吗 如果 "quoted" `code` config.py tests \u200b ｓａｖｅｄ'
).split(" ")
BREAKS = ["\n", "\n\n", "\n- ", "\n> ", "\n    "]
TEXTS = st.lists(st.sampled_from([*SPOKEN, *BREAKS]), max_size=25).map(" ".join) | st.text(max_size=80)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]


# --- The corpus ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-claims")
@pytest.mark.parametrize("name", ["labelled-a", "independent", "everyday"])
def test_precision_and_recall_on_the_labelled_texts(name: str) -> None:
    found = [(row["claim"], bool(find(row["text"]))) for row in rows(name)]
    right = sum(claim and told for claim, told in found)
    assert right / sum(told for _, told in found) >= 0.95
    assert right / sum(claim for claim, _ in found) >= 0.95


@pytest.mark.requirement("continuity-claims")
@pytest.mark.parametrize(
    "text",
    [
        "**Saved** to _memory_.",
        "__Saved__ to ***memory***",
        "<b>Saved</b> to <em class='x'>memory</em>.",
        "| Memory | saved |",
        "## Memory saved",
        "- [x] Memory saved",
        "💾 SAVED TO MEMORY!!",
        "[saved to memory](notes.md)",
        "Saved to mem\u200bory.",
        "Ｓａｖｅｄ ｔｏ ｍｅｍｏｒｙ",
        "The rule `use tabs` has been saved to memory.",
        "The rule “use tabs” has been saved to memory.",
        "Saved to memory: `use tabs`",
        "【记忆已保存】",
        "記憶已保存。",
        "已儲存到長期記憶。",
        "我記住了。",
        "已記錄到學習日誌。",
        "正式文檔已經生成。",
    ],
)
def test_a_claim_is_one_however_it_is_set(text: str) -> None:
    assert find(text)


@pytest.mark.requirement("continuity-claims")
@pytest.mark.parametrize(
    "text",
    [
        "尚未儲存到記憶。",
        "要不要我記住這個偏好？",
        "程式碼已經儲存，測試全部通過。",
        "檔案已儲存。",
        "資料庫的設定已經寫入。",
        "_saved_ is a flag, and `_memory` a list.",
        "List<b> is saved in the cache.",
        "The rule `no-unused-vars` was added to the linter's configuration.",
        "The tool prints: memory saved.",
        "程序提示：保存成功。",
    ],
)
def test_and_what_is_none_is_none(text: str) -> None:
    assert not find(text)


def test_the_corpus_is_large_enough_and_a_third_of_it_independent() -> None:
    own, independent = rows("labelled-a"), rows("independent")
    every = {each["text"] for each in own + independent}
    assert len(every) >= 400
    assert len({each["text"] for each in independent} - {each["text"] for each in own}) * 3 >= len(every)
    assert {each["language"] for each in own} == {each["language"] for each in independent} == {"en", "zh"}


def test_no_false_alarms_on_ordinary_answers_of_coding_agents() -> None:
    answers = [
        row["text"]
        for name in ("labelled-a", "independent")
        for row in rows(name)
        if row["kind"] == "answer" and not row["claim"]
    ]
    assert len(answers) >= 150
    alarms = [text for text in answers if find(text)]
    assert len(alarms) / len(answers) < 0.01, alarms


def test_what_was_said_of_memory_is_told_apart() -> None:
    claims = [row for row in rows("labelled-a") if row["claim"]]
    right = sum(any(claim.of_memory for claim in find(row["text"])) == row["memory"] for row in claims)
    assert right / len(claims) >= 0.95


# --- Rules ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("continuity-claims")
@pytest.mark.parametrize(
    ("text", "marker", "subject", "of_memory"),
    [
        ("I've saved this to memory.", "saved", "memory", True),
        ("Your preference was recorded.", "recorded", "memory", True),
        ("I have remembered that you prefer tabs.", "remembered", "memory", True),
        ("Stored for future sessions.", "stored", "memory", True),
        ("MEM-014 has been updated.", "updated", "memory", True),
        ("The memory store is validated.", "validated", "memory", False),
        ("memory_status: saved", "saved", "memory", True),
        ("I've also saved a memory so that it won't come up again.", "saved", "memory", True),
        ("The rule itself is already in memory.", "stored", "memory", True),
        ("Stand-up moved to nine, saved.", "saved", "record", False),
        ("Your answer has been recorded in the QA file.", "recorded", "record", False),
        ("Persistence saved.", "saved", "record", False),
        ("The handoff is ready.", "ready", "record", False),
        ("Receipt TX-0042 has been issued.", "issued", "record", False),
        ("It has been saved.", "saved", "record", False),
        ("The formal document has been generated.", "generated", "document", False),
        ("readiness_status: ready", "ready", "document", False),
        ("已保存到记忆。", "已保存到", "memory", True),
        ("我记住了。", "记住了", "memory", True),
        ("校验通过。", "校验通过", "record", False),
        ("正式文档已生成。", "已生成", "document", False),
    ],
)
def test_what_a_claim_says(text: str, marker: str, subject: str, of_memory: bool) -> None:
    (claim,) = find(text)
    assert (claim.sentence, claim.marker, claim.subject, claim.of_memory) == (text, marker, subject, of_memory)


@pytest.mark.requirement("continuity-claims")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ud800",
        " \n ",
        # denied
        "I have not saved this to memory.",
        "Nothing has been recorded.",
        "The memory wasn't saved.",
        "Memory saved: no",
        "0 memories saved.",
        "I saved nothing to memory.",
        "I've recorded no decision.",
        "记忆没有保存成功。",
        "这条规则没有记录下来。",
        "记忆尚未保存。",
        "校验没有通过。",
        # asked
        "Has your preference been recorded?",
        "I saved it to memory?",
        "已保存到记忆了吗？",
        # to come, wished, offered
        "I will save this to memory.",
        "Your preference should be recorded.",
        "I can save this to memory.",
        "Let me record your preference.",
        "我会记住你的偏好。",
        "请记住这条规则。",
        "我会把这条规则记录下来。",
        "需要把这条规则写进记忆了。",
        # under a condition
        "If the memory is saved, a receipt is issued.",
        "Once you approve, your preference is saved to memory.",
        "The memory is saved after you approve.",
        "Had it been saved, there would be a receipt.",
        "如果记忆已保存，就有收据。",
        # reported, or how a program does it
        "The test checks that the memory was saved.",
        "The log says that the memory was saved.",
        "Memories are stored with a hash.",
        "A saved memory needs a receipt.",
        "Each memory is saved with its hash.",
        "Saved memories are listed by date.",
        "Recorded decisions need a receipt.",
        "已保存的记忆有收据。",
        # quoted, struck out, code
        "The button says “Memory saved”.",
        "~~Memory saved.~~",
        "> Memory saved.",
        "It prints `memory saved`.",
        "``a ` memory saved`` is printed.",
        "```text\nMemory saved.\n```",
        "~~~\nMemory saved.\n```\nMemory saved.",
        "    Memory saved.",
        "提示“记忆已保存”。",
        # code and files, the memory of a machine
        "I saved config.py.",
        "All tests validated; ready for review.",
        "I've recorded the benchmark in results.csv.",
        "I stored the token in a variable.",
        "The cache now remembers the last path.",
        "The tree is stored in memory.",
        "We saved memory by streaming.",
        "I saved 200 MB of memory.",
        "The decision tree was saved.",
        "The progress bar is ready.",
        "Saved searches now load in one query.",
        "The rule engine is validated by 40 tests.",
        "Creating a snapshot requires memory when it is created.",
        "This saved two round trips.",
        "I remembered to close it.",
        "I remembered that the parser was slow.",
        "Shared memory is ready.",
        "The GPU memory was registered.",
        "文件已保存。",
        "偏好设置已保存到 localStorage。",
    ],
)
def test_what_claims_nothing(text: str) -> None:
    assert find(text) == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("The log was not saved, but your preference is saved.", None),
        ("Not saved to the log; saved to memory.", None),
        ("日志尚未保存，但记忆已保存。", None),
        ("No problem, I've saved it to memory.", None),
        ("Don't worry: your preference has been recorded.", None),
        ("If you ask again: I've saved it to memory.", None),
        ("I can confirm that the memory has been saved.", None),
        ("I've saved it to memory, shall I go on?", None),
        ("I have not only read it but also saved it to memory.", None),
        ("I ran `save()`. Your preference is recorded in memory.", "Your preference is recorded in memory."),
        ("> not saved\n\nMemory saved.", "Memory saved."),
        ("```\nx\n```\nMemory saved.", "Memory saved."),
        ("Is it lost? I've saved it to memory.", "I've saved it to memory."),
        ("- read it\n- saved it to memory", "saved it to memory"),
        ("1. 已读\n2. 已保存到记忆", "已保存到记忆"),
        ("Memory not saved.\nMemory saved.", "Memory saved."),
        ("I recorded it in `MEMORY.md`.", None),
    ],
)
def test_a_denial_reaches_no_further_than_its_part(text: str, sentence: str | None) -> None:
    assert [claim.sentence for claim in find(text)] == [sentence or text]


@pytest.mark.parametrize(
    "text",
    [
        "Ｍｅｍｏｒｙ ｓａｖｅｄ．",
        "Mem\u200bory sa\u00adved.",
        "M\u2060emory s\ufeffaved.",
        "**Memory** sa**v**ed.",
        "MEMORY SAVED!",
        "I’ve saved this to memory.",
        "记\u200b忆已保\u200d存。",
    ],
)
def test_words_in_disguise_are_read(text: str) -> None:
    assert [claim.of_memory for claim in find(text)] == [True]


@pytest.mark.parametrize(
    "text", ["unsaved memory", "The memorysaved flag.", "Presaved memory.", "A memory-saved hook."]
)
def test_words_are_compared_whole(text: str) -> None:
    assert find(text) == ()


@pytest.mark.parametrize(
    ("lead", "counts"),
    [("", True), ("That was the last question. ", True), ("I fixed the parser. ", False), ("See a.py. ", False)],
)
def test_a_claim_that_names_nothing_counts_where_no_code_is_spoken_of(lead: str, counts: bool) -> None:
    assert bool(find(f"{lead}Saved.")) is counts
    assert find(f"{lead}Saved to memory.")


@pytest.mark.parametrize(
    "text",
    [
        "I recorded the decision in {}.",
        "Your correction is recorded in `{}`.",
        "The rule is saved in ./{}, as agreed.",
        "Recorded in {}.",
        "更正已写入 {}。",
        "更正已记录到{}。",
    ],
)
@pytest.mark.parametrize("ledger", ["PROJECT_STUDY_LOG.md", "docs/decisions.md", "CORRECTIONS.md", "记录.md", "a+b.md"])
def test_what_is_recorded_in_a_ledger_of_the_project_is_claimed(text: str, ledger: str) -> None:
    said = text.format(ledger)
    (claim,) = find(said, ["PROJECT_STUDY_LOG.md", ledger])
    assert claim.sentence == said
    if ledger != "PROJECT_STUDY_LOG.md":
        assert find(said) == ()  # without it that is a file as any other
        assert find(said, ["other.md", f"x{ledger}", f"{ledger}x"]) == ()
    assert find(f"I will not change {ledger}.", [ledger]) == ()


def test_claims_stand_in_the_order_of_the_text() -> None:
    text = "The handoff is ready. All fine. Memory saved.\n\n你的偏好已记录。"
    assert [(claim.subject, text[claim.start : claim.end]) for claim in find(text)] == [
        ("record", "The handoff is ready."),
        ("memory", "Memory saved."),
        ("memory", "你的偏好已记录。"),
    ]


# --- Any text ------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_offsets_hold(text: str) -> None:
    end = 0
    for claim in find(text):
        assert text[claim.start : claim.end] == claim.sentence
        assert end <= claim.start < claim.end <= len(text)
        assert claim.sentence == claim.sentence.strip()
        end = claim.end


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.sampled_from("`~"))
def test_a_fence_around_a_text_takes_its_claims_away(text: str, mark: str) -> None:
    fence = mark * (max(3, text.count(mark) + 1))
    assert find(f"{fence}\n{text}\n{fence}\n") == ()


@settings(max_examples=100, deadline=None)
@given(TEXTS.filter(lambda text: "\r" not in text), st.sampled_from(["\r\n", "\r", "\u2028", "\x85"]))
def test_line_ends_change_nothing(text: str, end: str) -> None:
    def seen(said: str) -> list[tuple[str, ...]]:
        return [(" ".join(claim.sentence.split()), claim.marker, claim.subject) for claim in find(said)]

    assert seen(text.replace("\n", end)) == seen(text)


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_a_text_after_a_paragraph_keeps_its_claims_of_memory(text: str) -> None:
    alone = [claim.sentence for claim in find(text) if claim.of_memory]
    claims = find(f"Memory saved.\n\n{text}")
    assert claims[0].sentence == "Memory saved."
    if not text[:1].isspace():
        assert [claim.sentence for claim in claims if claim.of_memory][-len(alone) or 1 :] == alone


@pytest.mark.parametrize(
    "unit",
    [
        "saved ",
        "saved, ",
        "saved; ",
        "not saved and ",
        "the memory is saved and ",
        "`",
        "` ",
        "“",
        "\"'",
        "](",
        "a/",
        "\u200b",
        "```\n",
        "for all so you ",
        "confirm that ",
        "已",
        "已保存，",
        "保存",
        "memory_status : ",
        "- x\n",
        "A\nb\n",
    ],
)
def test_the_time_is_linear_in_hostile_text(unit: str) -> None:
    text = (unit * (MEGABYTE // len(unit) + 1))[: MEGABYTE // 10]
    start = time.process_time()
    find(text)
    assert (
        time.process_time() - start < 2
    )  # a tenth of a megabyte takes up to 0.3 s; a pattern that backtracks, minutes


def test_the_detector_starts_with_the_standard_library_alone() -> None:
    code = (
        "import sys; import segue; before = set(sys.modules); import segue.continuity.claims;"
        "print(*sorted(name for name in set(sys.modules) - before if '.' not in name or name.startswith('segue.')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in run.stdout.split() if name not in sys.stdlib_module_names] == [
        "segue.base.text",
        "segue.continuity",
        "segue.continuity.claim_english",
        "segue.continuity.claim_idioms",
        "segue.continuity.claim_things",
        "segue.continuity.claim_words",
        "segue.continuity.claims",
        "segue.continuity.prose",
    ]
