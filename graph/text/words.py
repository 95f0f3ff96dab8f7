"""The words under which texts are indexed and found, the same for both stores and every language.

The service makes the words; an engine only stores and compares them. A word never holds white space or control
characters, so that words can be joined by spaces for an engine's plainest tokenizer, and no input is an error.
Source: RE-9.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from threading import Lock
from typing import Any, Final, NamedTuple

import regex
import snowballstemmer  # type: ignore[import-untyped]

from graph.text.function_words import CJK, LATIN, OTHER

MAX_WORD_CHARACTERS: Final = 64
"""Longer words are cut, in texts and queries alike, so that they still meet."""

_CACHED_WORDS: Final = 100_000

SNOWBALL: Final[dict[str, str]] = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish", "hu": "hungarian",
    "ro": "romanian", "tr": "turkish", "id": "indonesian", "ca": "catalan", "eu": "basque", "ga": "irish",
    "lt": "lithuanian", "ru": "russian", "sr": "serbian", "el": "greek", "ar": "arabic", "hi": "hindi",
    "ne": "nepali", "hy": "armenian", "ta": "tamil", "yi": "yiddish",
}  # fmt: skip
"""The languages with a stemmer, by ISO 639-1 code."""

_SCRIPT_LANGUAGES: Final = (
    (r"\p{Latin}", ()),
    (r"\p{Cyrillic}", ("ru", "sr")),
    (r"\p{Greek}", ("el",)),
    (r"\p{Arabic}", ("ar",)),
    (r"\p{Devanagari}", ("hi", "ne")),
    (r"\p{Armenian}", ("hy",)),
    (r"\p{Tamil}", ("ta",)),
    (r"\p{Hebrew}", ("yi",)),
)

# Scripts written without spaces between words. Hangul has spaces, but its particles are glued to the word, so
# that characters and bigrams find more than stems would. Thai and its neighbours have no spaces and no stemmer.
_UNSPACED: Final = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u30fc\u3005\u3006"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_PART: Final = rf"[[\p{{L}}\p{{N}}]--[{_UNSPACED}]][[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]*"
_JOINERS: Final = "-_.@:/'"
_TOKENS: Final = regex.compile(rf"([{_UNSPACED}]+)|({_PART}(?:[{_JOINERS}]{_PART})*)", regex.VERSION1 | regex.UNICODE)
_ASCII_TOKENS: Final = re.compile(r"[a-z0-9]+(?:[-_.@:/'][a-z0-9]+)*")
_SPLIT: Final = re.compile(r"[-_.@:/]")
_SENTENCE: Final = re.compile(r"[^\s.!?。！？][^.!?。！？\n]*[.!?。！？]*")
_INVISIBLE: Final = dict.fromkeys((0x00AD, 0x200C, 0x200D, 0x2060, 0xFEFF))
_APOSTROPHES: Final = {0x2019: "'", 0x02BC: "'", 0x2018: "'"}


def analyze(text: str, *, language: str | None = None, default: str = "en") -> tuple[str, ...]:
    """Return the index words of a text in the order of the text, with repetitions.

    A word of letters and digits becomes its Snowball stem. An identifier such as ``gen-itgc`` gives the whole and
    each part. Runs of Chinese, Japanese kana, Hangul and other unspaced scripts give every character and every
    pair of neighbours. Words of Latin script in a text of another language than the default are indexed under the
    stems of both, so that a short query whose language nobody can tell still finds them.

    Args:
        text: any text; lone surrogates, control characters and endless words do no harm.
        language: ISO code of the text's Latin-script words when known; otherwise detected by function words.
        default: what a text counts as when detection finds nothing (``search.default_language``).

    >>> analyze("Caroline's dogs, running: gen-itgc")
    ('carolin', 'dog', 'run', 'gen-itgc', 'gen', 'itgc')
    >>> analyze("汇率 2024年")
    ('汇', '率', '汇率', '2024', '年')
    """
    return _analyzer(default).words(text, language)


def query_words(text: str, *, language: str | None = None, default: str = "en") -> tuple[str, ...]:
    """Return the different words to look up for a query, in the order of the query.

    Function words are dropped, unless nothing else is left. Single characters of unspaced scripts are looked up
    only when the query has no pair of them: one shared character says next to nothing, so a made-up word such as
    ``量子猫砂`` finds nothing, while ``猫`` finds the cat.

    >>> query_words("When did the dogs run?")
    ('dog', 'run')
    >>> query_words("量子猫砂")
    ('量子', '子猫', '猫砂')
    >>> query_words("猫")
    ('猫',)
    """
    return _analyzer(default).query(text, language)


def best_match(text: str, words: Iterable[str], *, default: str = "en") -> int:
    """Return where the sentence begins that holds most of a query's words: the first such, 0 if none does.

    The offset counts code points of the text as it is given, so that a cut can keep what matched.

    >>> best_match("It rained. The dogs ran home. We ate.", query_words("running dogs"))
    11
    """
    wanted = frozenset(words)
    best, most = 0, 0
    for sentence in _SENTENCE.finditer(text):
        shared = len(wanted.intersection(analyze(sentence.group(), default=default)))
        if shared > most:
            best, most = sentence.start(), shared
    return best


def fold(text: str) -> str:
    """Return the text in the form in which words are compared: NFKC, casefolded, one apostrophe.

    >>> fold("Ａ’S Straße")
    "a's strasse"
    """
    if text.isascii():
        return text.lower()
    visible = unicodedata.normalize("NFKC", text).casefold().translate(_INVISIBLE)
    return unicodedata.normalize("NFKC", visible).translate(_APOSTROPHES)


def detect_language(text: str, *, default: str = "en") -> str:
    """Return the ISO code of the language whose function words the Latin-script words of a text use most.

    Another language than the default needs two different function words of its own and more than the default.

    >>> detect_language("Wo ist der Hund und was macht er?")
    'de'
    >>> detect_language("Helio GmbH")
    'en'
    """
    return _analyzer(default).detect(chain.from_iterable(_SPLIT.split(token) for token in _plain_tokens(fold(text))))


def forget_cached_words() -> None:
    """Drop the remembered stems; erasure calls it, since a rare word may be content of what was erased."""
    _analyzer.cache_clear()


class _Token(NamedTuple):
    unspaced: str
    word: str


class _Stems(dict[str, tuple[str, ...]]):
    """Index words by folded token, filled on demand and emptied when full."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        super().__init__()
        self._languages = languages

    def __missing__(self, token: str) -> tuple[str, ...]:
        words = tuple(self._derive(token))
        if len(self) >= _CACHED_WORDS:
            self.clear()
        self[token] = words
        return words

    def _derive(self, token: str) -> Iterator[str]:
        parts = [part for part in _SPLIT.split(token) if part]
        if len(parts) > 1:
            yield token[:MAX_WORD_CHARACTERS]
        for part in parts:
            yield from self._of_part(part)

    def _of_part(self, part: str) -> Iterator[str]:
        head, apostrophe, tail = part.partition("'")
        if apostrophe and len(tail) > 2:  # l'homme, o'brien: not a suffix such as 's or 'll
            yield part[:MAX_WORD_CHARACTERS]
            yield from chain(self._stems(head), self._of_part(tail))
        else:
            yield from self._stems(part)

    def _stems(self, word: str) -> Iterable[str]:
        word = word[:MAX_WORD_CHARACTERS]
        return dict.fromkeys(_stem(word, language) for language in _stemmers_for(word, self._languages))


class _Analyzer:
    """The word analysis of one default language."""

    def __init__(self, default: str) -> None:
        self._default = default
        own = LATIN.get(default, frozenset())
        self._own = own
        self._foreign = frozenset(chain.from_iterable(LATIN.values())) - own
        self._stems: dict[str, _Stems] = {}

    def words(self, text: str, language: str | None) -> tuple[str, ...]:
        folded = fold(text)
        if folded.isascii():
            tokens = _ASCII_TOKENS.findall(folded)
            stems = self._stems_of(language or self.detect(tokens))
            return tuple(chain.from_iterable(map(stems.__getitem__, tokens)))
        found = _TOKENS.findall(folded)
        stems = self._stems_of(language or self.detect([word for _, word in found if word]))
        return tuple(chain.from_iterable(stems[word] if word else _characters_and_pairs(run) for run, word in found))

    def query(self, text: str, language: str | None) -> tuple[str, ...]:
        found = [_Token(*pair) for pair in _TOKENS.findall(fold(text))]
        language = language or self.detect([token.word for token in found if token.word])
        stems = self._stems_of(language)
        spaced = [token.word for token in found if token.word]
        runs = [token.unspaced for token in found if token.unspaced]
        kept = [word for word in spaced if word not in self._function_words(language)]
        pairs = [pair for run in runs for pair in _pairs(run)]
        units = pairs or [character for run in runs for character in run]
        kept_units = [unit for unit in units if unit not in CJK and not all(c in CJK for c in unit)]
        if not kept and not kept_units:
            kept, kept_units = spaced, units
        return tuple(dict.fromkeys(chain(chain.from_iterable(stems[word] for word in kept), kept_units)))

    def detect(self, words: Iterable[str]) -> str:
        different = set(words)
        if len(different & self._foreign) < 2:
            return self._default
        best, most = self._default, len(different & self._own)
        for language, function_words in LATIN.items():
            shared = different & function_words
            if len(shared) > most and len(shared - self._own) >= 2:
                best, most = language, len(shared)
        return best

    def _function_words(self, language: str) -> frozenset[str]:
        return LATIN.get(language, self._own) | self._own | _OTHER_FUNCTION_WORDS

    def _stems_of(self, language: str) -> _Stems:
        known = self._stems.get(language)
        if known is None:
            known = self._stems[language] = _Stems(tuple(dict.fromkeys((language, self._default))))
        return known


_OTHER_FUNCTION_WORDS: Final = frozenset(chain.from_iterable(OTHER.values()))


@lru_cache(maxsize=8)
def _analyzer(default: str) -> _Analyzer:
    return _Analyzer(default)


def _plain_tokens(folded: str) -> list[str]:
    return [word for _, word in _TOKENS.findall(folded) if word]


def _characters_and_pairs(run: str) -> tuple[str, ...]:
    return (*run, *_pairs(run))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _stemmers_for(word: str, latin: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages to stem a word in: by its script, and for Latin script those of the text."""
    if word.isascii():
        return latin
    for pattern, languages in _SCRIPT_LANGUAGES:
        if regex.search(pattern, word):
            if not languages:
                return latin
            return tuple(own for own in latin if own in languages)[:1] or languages[:1]
    return ("",)


_STEMMER_LOCK: Final = Lock()


def _stem(word: str, language: str) -> str:
    name = SNOWBALL.get(language)
    if name is None or word.isdigit():
        return word
    with _STEMMER_LOCK:  # the C stemmers are not re-entrant
        stem: str = _stemmer(name).stemWord(word)
    return stem or word


@lru_cache(maxsize=len(SNOWBALL))
def _stemmer(name: str) -> Any:
    stemmer = snowballstemmer.stemmer(name)
    if hasattr(stemmer, "maxCacheSize"):
        stemmer.maxCacheSize = 0  # stems are remembered above, where they can be forgotten
    return stemmer
