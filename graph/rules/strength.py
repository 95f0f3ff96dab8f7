"""How strongly the routes speak for what they found, so that what they say can be added up.

A rank tells the order alone; a strength also tells whether the second is nearly as good as the first, and what one
route knows of a hit of another that it did not rank among its own best. It is a share of the best in the same route, so
that routes whose scores have nothing in common count alike. Source: RE-17, ADR 0051.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import Final

LEAST_SPREAD: Final = 0.03
"""Cosines that lie closer together tell little about which is nearer; models put all texts into a narrow cone, so that
the best and the worst of many are often no more than .1 apart."""


def shares(scores: Mapping[str, float]) -> dict[str, float]:
    """Return each score as a share of the best; all 0 if none is above 0.

    >>> shares({"a": 8.0, "b": 2.0})
    {'a': 1.0, 'b': 0.25}
    """
    best = max(scores.values(), default=0.0)
    return {id_: score / best for id_, score in scores.items()} if best > 0 else dict.fromkeys(scores, 0.0)


def by_meaning(similarities: Mapping[str, float]) -> dict[str, float]:
    """Return where each cosine lies between the least that the route looked at, 0, and the best, 1.

    Where all are close together none is far from the best.

    >>> by_meaning({"a": 0.9, "b": 0.8, "c": 0.85})["b"]
    0.0
    >>> round(by_meaning({"a": 0.9, "b": 0.897})["b"], 3)
    0.9
    """
    best = max(similarities.values(), default=0.0)
    spread = max(best - min(similarities.values(), default=0.0), LEAST_SPREAD)
    return {id_: 1.0 - (best - similarity) / spread for id_, similarity in similarities.items()}


def together(routes: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the strengths of all routes added up; a route that does not know an id adds nothing.

    >>> together([{"a": 1.0, "b": 0.5}, {"b": 0.75}])
    {'a': 1.0, 'b': 1.25}
    """
    sums: dict[str, float] = {}
    for strengths in routes:
        for id_, strength in strengths.items():
            sums[id_] = sums.get(id_, 0.0) + strength
    return sums


def runners_up(
    strengths: Mapping[str, float], places: Mapping[str, int], found: Container[str], most: int
) -> list[str]:
    """Return which of the ``most`` strongest were not found yet, strongest first.

    Of equal ones the better place in a route comes first, which among equals of a route is that of the newer (RE-19),
    then the id in byte order.

    >>> runners_up({"a": 1.0, "b": 1.2, "c": 0.1}, {"a": 2, "b": 1, "c": 3}, {"a"}, 2)
    ['b']
    >>> runners_up({"a": 1.0, "b": 1.0}, {"a": 2, "b": 1}, (), 1)
    ['b']
    """
    least = min(nlargest(most, strengths.values()), default=0.0)  # few reach it, so that few need be put in order
    strong = [id_ for id_, strength in strengths.items() if strength >= least]
    strongest = sorted(strong, key=lambda id_: (-strengths[id_], places[id_], id_))[:most]
    return [id_ for id_ in strongest if id_ not in found]


def best_places(routes: Iterable[Sequence[str]]) -> dict[str, int]:
    """Return the best place that each id has in a route, from 1 on.

    >>> best_places([["a", "b"], ["b"]])
    {'a': 1, 'b': 1}
    """
    places: dict[str, int] = {}
    for items in routes:
        for place, id_ in enumerate(items, start=1):
            places[id_] = min(place, places.get(id_, place))
    return places
