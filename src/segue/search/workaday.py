"""Words that every request to a coding agent is made of ("fix the test"), so that they tell no subject."""

from __future__ import annotations

from segue.search.tokens import stem

WORKADAY = frozenset(
    map(
        stem,
        """
    add agree alright alternative another apply back better bit break broken bug build call change check clean close
    code commit compile complete continue correct create debug delete detail different docs document done edit else
    error even everything exactly example execute explain fail failed failure file files find fine finish first fix
    follow full function git give go good great happen help hey hi implement import improve info issue keep kind
    last latest let like line lint list little local log logs long look looks main make maybe mean merge message
    missing module move name need never new next nice nope now ok okay old one open option output part paste perfect
    plan please pls possible pr print problem proceed project pull push put question quick read ready really redo
    refactor reformat remove rename replace repo request rerun result retry return revert review right run same save
    script second see setup short show simple simplify something soon split start status step still stop sure take
    task tell test tests thank thanks thing things think third three time todo tool top try two type typo understand
    undo update use used user using value variable version wait want warning way well work works write wrong yeah
    yep yes yet
    """.split(),
    )
)
