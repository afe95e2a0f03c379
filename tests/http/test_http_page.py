"""The public page of a packet: read-only, sanitised, and of one piece."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from http_live import packet

from segue.packets import resume
from segue.packets.model import Packet

if TYPE_CHECKING:
    import httpx2
    from http_live import Live

pytest_plugins = ["http_fixtures"]

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1)) [b](data:text/html,x) [c](//evil.example) [d](/v1/packets) [e](https://ok.example/x?y=1&z)",
    "![pixel](https://evil.example/pixel.png)",
    "</textarea><script>alert(2)</script>",
    "</style></title><svg onload=alert(3)>",
    "<https://auto.example> `code` **bold** \u202e reversed \u2066 \x07",
    "[x]: https://evil.example\n\n# Not a heading\n---\n## Reminder",
    'see <a href="https://evil.example/raw">raw</a> and <em>raw</em>',
    "<!-- --> <![CDATA[ x ]]> &lt;b&gt; &#60;script&#62;",
)


class Seen(HTMLParser):
    """The elements of a page with their attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def page_of(live: Live, **members: Any) -> tuple[httpx2.Response, dict[str, Any]]:
    client, document = live.user(), packet(**members)
    assert client.post("/v1/packets", json=document).status_code == 201
    url = client.post(f"/v1/packets/{document['id']}/publish").json()["public_url"]
    return live.nobody.get(url), document


def test_the_page_shows_the_packet_and_its_resume_block(single: Live) -> None:
    decisions = [{"what": "Use SQLite.", "why": "It is there.", "locked": True}]
    reply, document = page_of(single, goal="Ship the importer.", decisions=decisions, tags=["importer"])
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<h1>Ship the importer.</h1>" in reply.text
    assert "<h2>Locked decisions (do not revisit)</h2>" in reply.text
    block = re.search(r"<textarea[^>]*readonly[^>]*>\n(.*?)</textarea>", reply.text, re.DOTALL)
    assert block is not None
    assert html.unescape(block[1]) == resume.render(Packet.from_document(document | {"decisions": decisions}))
    assert reply.text.count("<h2>Reminder</h2>") == 0  # that is for who goes on, not for who reads
    assert "prefers-color-scheme: dark" in reply.text


def test_the_policy_lets_nothing_in_but_the_pages_own_style_and_script(single: Live) -> None:
    reply, _ = page_of(single)
    policy = dict(part.strip().partition(" ")[::2] for part in reply.headers["content-security-policy"].split(";"))
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", reply.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[directive] == f"'sha256-{digest}'"
    assert {policy[each] for each in ("default-src", "base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert reply.headers["x-robots-tag"] == "noindex, nofollow"
    assert reply.headers["cache-control"] == "no-store"  # what is taken back is gone
    assert reply.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_packet_says_does_nothing(single: Live, text: str) -> None:
    lists = {name: [text] for name in ("constraints", "open_questions", "success_criteria")}
    reply, _ = page_of(
        single,
        goal=text,
        next_step=text,
        decisions=[{"what": text, "why": text, "consequences": text, "locked": True}],
        attempts=[{"tried": text, "outcome": "failed", "learned": text}],
        methods=[{"name": "method", "when_applicable": text, "how": text}],
        project={"name": text[:128], "ref": text[:256]},
        provenance={"author_human": text[:128]},
        **lists,
    )
    assert reply.status_code == 200
    elements = Seen(reply.text).elements
    assert [tag for tag, _ in elements].count("script") == 1
    allowed = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "ul", "li", "strong", "em"}
    allowed |= {"code", "br", "a", "textarea", "button", "footer", "script"}
    assert {tag for tag, _ in elements} <= allowed
    named = {name for _, attributes in elements for name in attributes}
    assert named <= {
        "lang",
        "charset",
        "name",
        "content",
        "class",
        "readonly",
        "spellcheck",
        "aria-label",
        "type",
        "hidden",
        "href",
        "rel",
    }
    links = {attributes["href"] for tag, attributes in elements if tag == "a" and "href" in attributes}
    # An image is a link at most: to look at a page tells nobody anything.
    assert links <= {"https://ok.example/x?y=1&z", "https://auto.example", "https://evil.example/pixel.png"}
    assert all(
        attributes["rel"] == "nofollow noopener noreferrer"
        for tag, attributes in elements
        if tag == "a" and "href" in attributes
    )
    for hidden in ("\u202e", "\u2066", "\x07"):
        assert hidden not in reply.text


@pytest.mark.parametrize(
    ("begins", "ends"),
    [("a `", "` b"), ("a ``", "`` b"), ("a **", "** b"), ("[a", "b](https://ok.example)"), ("<", ">")],
)
def test_what_one_field_begins_no_other_ends(single: Live, begins: str, ends: str) -> None:
    """Each field is shown as it is, and so is the label before it."""
    reply, _ = page_of(
        single,
        goal=begins,
        next_step=ends,
        constraints=[begins, ends],
        decisions=[
            {"what": begins, "why": ends, "consequences": begins, "locked": True},
            {"what": ends, "why": begins},
        ],
        attempts=[
            {"tried": begins, "outcome": "failed", "learned": ends, "confidence": "high"},
            {"tried": begins, "outcome": "succeeded", "learned": ends},
        ],
        methods=[{"name": "method", "when_applicable": begins, "how": ends}],
        project={"name": begins, "ref": ends},
    )
    shown = reply.text.partition("<h2>Resume block</h2>")[0]
    tags = [tag for tag, _ in Seen(shown).elements]
    assert {"code", "a"} & set(tags) == set()
    assert tags.count("strong") == 1  # the method's name
    first, last = html.escape(begins, quote=False), html.escape(ends, quote=False)
    for line in (
        f"<p>{first}</p>\n<p>Rationale: {last}</p>\n<p>Consequences: {first}</p>",
        f"<p>{last}</p>\n<p>Rationale: {first}</p>",
        f"<p>[failed] {first}</p>\n<p>Learned: {last}</p>\n<p>Confidence this outcome is final: high</p>",
        f"<strong>method</strong> — when: {first}</p>\n<p>how: {last}</p>",
    ):
        assert line in shown, shown


def test_no_field_names_a_place_for_anothers_link(single: Live) -> None:
    reply, _ = page_of(single, constraints=["[x]: https://evil.example", "Ask [x] first."])
    shown = reply.text.partition("<h2>Resume block</h2>")[0]
    assert "[x]: https://evil.example" in shown
    assert "evil.example" not in "".join(str(attributes) for _, attributes in Seen(shown).elements)


def test_nothing_is_told_of_what_is_not_published(single: Live) -> None:
    client = single.user()
    document = packet()
    client.post("/v1/packets", json=document)
    url = client.post(f"/v1/packets/{document['id']}/publish").json()["public_url"]
    client.delete(f"/v1/packets/{document['id']}")  # a packet takes its page along
    slug = url.rpartition("/")[2]
    answers = [single.nobody.get(f"/p/{each}") for each in (slug, "A" * 22, "short", "%2e%2e", "a%2Fb", document["id"])]
    assert {each.status_code for each in answers} == {404}
    assert len({each.content for each in answers}) == 1
    assert len({each.headers["content-security-policy"] for each in answers}) == 1


def test_addresses_cannot_be_guessed(single: Live) -> None:
    client, document = single.user(), packet()
    client.post("/v1/packets", json=document)
    slugs = set()
    for _ in range(3):
        slugs.add(client.post(f"/v1/packets/{document['id']}/publish").json()["public_url"].rpartition("/")[2])
        client.delete(f"/v1/packets/{document['id']}/publish")
    assert len(slugs) == 3
    assert all(re.fullmatch("[A-Za-z0-9_-]{22}", each) for each in slugs)  # 128 bits
