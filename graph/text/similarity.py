"""How alike two names or two short texts are, by their characters and words alone."""

import unicodedata
from typing import Final

import regex
from rapidfuzz.distance import Levenshtein

from graph.text.words import fold

MIN_NEAR_CHARACTERS: Final = 5
MIN_NEAR_CHARACTERS_CJK: Final = 3

_CJK_CLASS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u30fc\u3005"
_CJK: Final = regex.compile(rf"[{_CJK_CLASS}]")
# Marks belong to the letter before them (Hindi and Thai vowels), unless they only choose a glyph or enclose it.
_NAME_CHARACTERS: Final = regex.compile(
    r"[\p{L}\p{N}][[\p{Mn}\p{Mc}]--\p{Default_Ignorable_Code_Point}]*", regex.VERSION1
)
_UNITS: Final = regex.compile(rf"([{_CJK_CLASS}]+)|([[\p{{L}}\p{{N}}\p{{M}}]--[{_CJK_CLASS}]]+)", regex.VERSION1)


def name_key(name: str) -> str:
    """Return the letters and digits of a name, NFKC and casefolded; names with equal keys are the same name.

    A name without letters or digits is its own key, so that two signs are not one name. Source: CO-73.

    >>> name_key("Helio Gmbh."), name_key("스코프 랩스"), name_key("Wren 🕯️")
    ('heliogmbh', '스코프랩스', 'wren')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(_NAME_CHARACTERS.findall(folded)) or folded.strip()


def key_similarity(key: str, other: str) -> float:
    """Return 1 − Levenshtein ÷ longer length of two name keys; 1 when equal, 0 when one is too short to tell.

    Keys need 5 characters, or 3 if at least half of them are CJK. Source: CO-73.

    >>> key_similarity("room101", "room102")
    0.8571428571428572
    >>> key_similarity("김민수", "김민석")
    0.6666666666666667
    >>> key_similarity("ua1", "ua2")
    0.0
    """
    if key == other:
        return 1.0
    if not (can_be_near(key) and can_be_near(other)):
        return 0.0
    return 1.0 - Levenshtein.distance(key, other) / max(len(key), len(other))


def name_similarity(name: str, other: str) -> float:
    """Return the similarity of two names as they are written, from 0 to 1. Source: CO-73.

    >>> name_similarity("Helio GmbH", "helio gmbh.")
    1.0
    """
    return key_similarity(name_key(name), name_key(other))


def can_be_near(key: str) -> bool:
    """Return whether a name key is long enough that a small difference may be a slip of the pen."""
    if len(key) >= MIN_NEAR_CHARACTERS:
        return True
    return len(key) >= MIN_NEAR_CHARACTERS_CJK and 2 * len(_CJK.findall(key)) >= len(key)


def word_set(text: str) -> frozenset[str]:
    """Return the different words of a text, folded but not stemmed; CJK runs give their character bigrams.

    >>> sorted(word_set("Run the tests, THE tests!"))
    ['run', 'tests', 'the']
    >>> sorted(word_set("先测试"))
    ['先测', '测试']
    """
    units: set[str] = set()
    for run, word in _UNITS.findall(fold(text)):
        if word:
            units.add(word)
        else:
            units.update([run[at : at + 2] for at in range(len(run) - 1)] or [run])
    return frozenset(units)


def word_overlap(text: str, other: str) -> float:
    """Return the Jaccard similarity of two word sets, 0 to 1; two texts without words have 0. Source: SK-13.

    >>> word_overlap("always run migrations before deploy", "before deploy always run migrations")
    1.0
    """
    words, others = word_set(text), word_set(other)
    union = len(words | others)
    return len(words & others) / union if union else 0.0
