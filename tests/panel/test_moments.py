import pytest

from agents.views.present.moments import clock, duration, full, left, stopwatch
from agents.views.present.numbers import counted, grouped, short_digest, table_usd

NOW = 1_795_960_927_000  # Sun 29 Nov 2026, 14:02:07 UTC
HOUR = 3_600_000


def test_a_moment_of_today_is_its_clock():
    assert clock(NOW, NOW) == "14:02:07"


def test_a_moment_of_another_day_names_the_day():
    assert clock(NOW - 24 * HOUR, NOW) == "28 Nov 14:02"


def test_a_moment_of_another_year_names_the_year():
    assert clock(NOW - 366 * 24 * HOUR, NOW) == "28 Nov 2025 14:02"


def test_the_whole_moment_names_its_zone():
    assert full(NOW) == "Sun 29 Nov 2026, 14:02:07 UTC"


@pytest.mark.parametrize(
    ("length_ms", "words"),
    [(800, "0.8 s"), (187_000, "3:07"), (8_040_000, "2 h 14 min"), (60, "<0.1 s"), (-5, "<0.1 s")],
)
def test_a_duration_is_said_in_the_unit_that_fits(length_ms, words):
    assert duration(length_ms) == words


@pytest.mark.parametrize(
    ("length_ms", "words"),
    [
        (192_000, "03:12"),
        (7_560_000, "2 h 06 min"),
        (6 * 24 * HOUR + 4 * HOUR, "6 d 04 h"),
        (-1, "00:00"),
    ],
)
def test_what_is_left_of_a_deadline_never_falls_below_nothing(length_ms, words):
    assert left(length_ms) == words


def test_a_stopwatch_counts_minutes_from_the_first_second():
    assert stopwatch(45_000) == "0:45"


def test_numbers_are_grouped_by_thin_spaces():
    assert grouped(12_480) == "12\u2009480"


def test_a_count_agrees_with_its_noun():
    assert [counted(1, "line"), counted(2, "line")] == ["1 line", "2 lines"]


def test_a_digest_is_cut_to_two_groups():
    assert short_digest("9f2c71abcc") == "9f2c 71ab"


def test_a_tiny_amount_is_not_shown_as_nothing():
    assert [table_usd(400), table_usd(211_400), table_usd(0)] == ["$0.0004", "$0.21", "$0.00"]
