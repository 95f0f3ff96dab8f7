"""Times that texts name and questions ask for."""

import pytest

from graph.text.times import asks_for_time, names_time


@pytest.mark.req("RE-17")
@pytest.mark.parametrize(
    "text",
    [
        "I painted it last year!",
        "We met two weeks ago",
        "On Fridays we dance",
        "It opened in May",
        "since 2019",
        "See you next Tues.",
        "昨天我去了图书馆",
        "我上个月开始跑步",
        "三年前认识的",
        "5月7日开会",
    ],
)
def test_a_day_a_month_or_how_long_ago_is_a_time(text: str) -> None:
    assert names_time(text)


@pytest.mark.req("RE-17")
@pytest.mark.parametrize("text", ["", "You may be right.", "We march on", "I sat there", "12 eggs", "我喜欢书"])
def test_other_words_and_numbers_are_no_time(text: str) -> None:
    assert not names_time(text)


@pytest.mark.req("RE-17")
@pytest.mark.parametrize(
    "question",
    [
        "When did Ana move?",
        "And so: When was that?",
        "what year did it open",
        "In which month did she leave?",
        "How long ago was the wedding?",
        "安娜什么时候搬家的？",
        "会议在几号？",
        "她哪一年毕业？",
    ],
)
def test_when_asks_for_a_time(question: str) -> None:
    assert asks_for_time(question)


@pytest.mark.req("RE-17")
@pytest.mark.parametrize("question", ["", "Who was there when it rained?", "What did Ana say?", "安娜去了哪里？"])
def test_a_condition_or_another_question_does_not(question: str) -> None:
    assert not asks_for_time(question)
