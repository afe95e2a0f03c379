"""Publishing: who may, what can be read then, and when that ends; on both databases."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from server_samples import FIRST, SECOND, body, code, events, join, person, same_answer

import segue
from segue.services.publishing import Publication, Publishing

if TYPE_CHECKING:
    from conftest import Clock


def test_published_read_and_taken_back(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    segue_.hub.push(ann, body())
    publishing = Publishing(segue_._database, segue_._clock, "https://example.org/")
    assert publishing.of(ann.user_id, FIRST) is None
    page = publishing.publish(ann, FIRST)
    assert page.url == f"https://example.org/p/{page.slug}"
    assert len(page.slug) == 22
    assert publishing.publish(ann, FIRST) == page, "the same address and time"
    assert publishing.of(ann.user_id, FIRST) == page
    assert segue_.publishing.of(ann.user_id, FIRST) == Publication(page.slug, f"/p/{page.slug}", page.published_at)
    assert publishing.read(page.slug).goal == "Ship it."
    assert publishing.unpublish(ann, FIRST)
    assert not publishing.unpublish(ann, FIRST)
    assert code(publishing.read, page.slug) == "publication.not_found"
    again = publishing.publish(ann, FIRST)
    assert again.slug != page.slug, "what was taken back stays so"
    assert code(publishing.read, page.slug) == "publication.not_found"
    kinds = [kind for kind, _, _ in events(segue_, ann.user_id)]
    assert kinds[-3:] == ["packet.published", "packet.unpublished", "packet.published"]


def test_a_page_shows_what_is_stored_now_and_goes_with_it(segue_: segue.Segue) -> None:
    ann = person(segue_, "Ann")
    segue_.hub.push(ann, body())
    page = segue_.publishing.publish(ann, FIRST)
    segue_.hub.push(ann, body(goal="Another."), replace=True)
    assert segue_.publishing.read(page.slug).goal == "Another."
    segue_.hub.rm(ann, FIRST)
    assert code(segue_.publishing.read, page.slug) == "publication.not_found"
    segue_.hub.push(ann, body())
    assert segue_.publishing.of(ann.user_id, FIRST) is None
    assert segue_.store.counts()["publications"] == 0


def test_the_local_owner_removes_a_page_with_its_packet(segue_: segue.Segue) -> None:
    root = segue_.accounts.authenticate(segue_.accounts.init())
    mine = segue_.packets.save({"ltm_version": "0.2", "goal": "Mine.", "next_step": "n"})
    page = segue_.publishing.publish(root, mine.id)
    segue_.packets.rm(mine.id)
    assert code(segue_.publishing.read, page.slug) == "publication.not_found"


def test_what_is_no_slug(segue_: segue.Segue) -> None:
    read = segue_.publishing.read
    given = ["", "x", "a" * 22, "a" * 10_000, "é" * 22, "a" * 21 + "\0", "\ud800", "../../etc", FIRST]
    assert same_answer(*(partial(read, each) for each in given)) == "publication.not_found"


def test_who_may_publish(segue_: segue.Segue) -> None:
    ann, bob, cid, dee = (person(segue_, name) for name in ("Ann", "Bob", "Cid", "Dee"))
    segue_.teams.create(ann, "bakers")
    join(segue_, ann, "bakers", bob, cid)
    segue_.hub.push(bob, body(), team="bakers")
    segue_.hub.push(bob, body(SECOND), team="bakers")
    publishing = segue_.publishing
    for verb in (publishing.publish, publishing.unpublish):
        for caller in (cid, dee):
            assert same_answer(partial(verb, caller, FIRST), partial(verb, caller, "packet-9999")) == "packet.not_found"
    by_creator, by_owner = publishing.publish(bob, FIRST), publishing.publish(ann, SECOND)
    assert publishing.read(by_creator.slug).id == FIRST
    assert publishing.unpublish(ann, FIRST)
    assert publishing.unpublish(bob, SECOND, team="bakers")
    assert code(publishing.read, by_owner.slug) == "publication.not_found"


def test_many_publish_at_once(location: str, clock: Clock) -> None:
    with segue.open(location, clock=clock) as one, segue.open(location, clock=clock) as other:
        ann = person(one, "Ann")
        one.hub.push(ann, body())
        barrier = threading.Barrier(8)
        pages: set[Publication] = set()

        def publish(opened: segue.Segue) -> None:
            barrier.wait()
            pages.add(opened.publishing.publish(ann, FIRST))

        threads = [threading.Thread(target=publish, args=(each,)) for each in [one, other] * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(pages) == 1
        assert one.store.counts()["publications"] == 1
