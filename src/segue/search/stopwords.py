"""English words that carry no subject: a query drops them, unless it holds nothing else."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are arent as at be been before being both but by
    can cant could couldnt did didnt do does doesnt doing done dont down during each few for from further
    get got had hadnt has hasnt have havent having he her here hers him his how i if in into is isnt it its
    just lets may me might mine more most must my no nor not of off on once only or other our ours out over own
    same shall she should shouldnt so some such than that the their theirs them then there these they this those
    to too under up us very was wasnt we were werent what when where which while who whom whose why will with wont
    would wouldnt you your yours
    """.split()
)
