import pytest

from agents.views.present.changed_words import compare
from agents.views.present.evidence import FOLD_AFTER_ROWS, present_evidence
from tests.panel.wire import gate, long_gate

BIDI = "\u202e"


def of(one, **options):
    return present_evidence(one["evidence"], one["args"], **options)


def test_a_change_is_shown_line_by_line_with_its_numbers():
    first, second = of(gate()).shown.lines

    assert (first.kind, first.old, first.new) == ("cut", "1", "")
    assert (second.kind, second.old, second.new) == ("add", "", "1")


def test_only_the_words_that_changed_are_marked():
    assert of(gate()).shown.lines[1].parts == ('key = "a-', "08", '"')


def test_lines_that_share_nothing_have_changed_whole():
    removed, added = compare("alpha", "beta")

    assert (removed.changed, added.changed) == ("alpha", "beta")


def test_in_a_new_file_nothing_stands_out():
    assert all(not line.parts.changed for line in of(long_gate(3)).shown.lines)


def test_a_change_is_counted_in_the_header():
    assert of(gate()).summary == "+1 −1 of 1 line"


def test_evidence_up_to_the_limit_is_not_folded():
    evidence = of(long_gate(FOLD_AFTER_ROWS))

    assert not evidence.is_unseen
    assert evidence.rest.is_empty


def test_longer_evidence_is_folded_and_says_by_how_much():
    evidence = of(long_gate(274))

    assert evidence.is_unseen
    assert evidence.folded_words == "214 more lines"
    assert len(evidence.shown.lines) + len(evidence.rest.lines) == 274


def test_unfolded_evidence_is_seen_and_still_says_where_the_fold_was():
    evidence = of(long_gate(274), is_unfolded=True)

    assert not evidence.is_unseen
    assert evidence.folded == 214


def test_without_a_change_or_a_text_the_arguments_are_the_evidence():
    evidence = present_evidence({}, {"command": "ls", "timeout": 5})

    assert [(part.name, part.value) for part in evidence.shown.arguments] == [
        ("command", "ls"),
        ("timeout", "5"),
    ]


def test_the_fold_goes_through_a_long_argument_and_loses_no_line():
    script = "\n".join(f"step {number}" for number in range(100))

    evidence = present_evidence({}, {"path": "a.sh", "script": script})

    shown, rest = evidence.shown.arguments[1], evidence.rest.arguments[0]
    assert f"{shown.value}\n{rest.value}" == script
    assert rest.is_rest
    assert evidence.folded == 41


ONE_LINE = "".join(f"step {number:05} " for number in range(1_700))


def cuts(evidence):
    """Return what is shown and what is folded of a text, a change, or the arguments."""
    for part in (evidence.shown, evidence.rest):
        lines = ["".join(line.parts) for line in part.lines]
        yield "".join([*(one.value for one in part.arguments), part.text, *lines])


@pytest.mark.parametrize(
    ("data", "args"),
    [
        ({"text": ONE_LINE}, {}),
        ({"diff": [["+", 0, 1, ONE_LINE]]}, {}),
        ({"diff": [["-", 1, 0, ONE_LINE], ["+", 0, 1, f"{ONE_LINE}!"]]}, {}),
        ({}, {"script": ONE_LINE}),
    ],
)
def test_u32_one_line_of_20_kilobytes_is_folded_by_its_rows_and_loses_nothing(data, args):
    evidence = present_evidence(data, args)

    shown, rest = cuts(evidence)
    assert len(shown) == FOLD_AFTER_ROWS * 100
    whole = [*args.values(), data.get("text", ""), *(row[3] for row in data.get("diff", ()))]
    assert shown + rest == "".join(whole)
    assert evidence.is_unseen
    assert evidence.folded_words.endswith(" more rows")


def test_u32_a_continued_line_keeps_its_sign_and_what_changed_in_it():
    diff = [["-", 1, 0, f"a {ONE_LINE}"], ["+", 0, 1, f"b {ONE_LINE}"]]

    evidence = present_evidence({"diff": diff}, {})

    (cut,), (more, added) = evidence.shown.lines, evidence.rest.lines
    assert (cut.kind, cut.old, more.kind, more.old) == ("cut", "1", "cut", "")
    assert (cut.parts.changed, more.parts.changed, added.parts.changed) == ("a", "", "b")


@pytest.mark.parametrize("wide", ["\t", "\u6f22", "\u202e\u200b"])
def test_u32_what_is_drawn_wide_is_counted_wide(wide):
    evidence = present_evidence({"text": wide * 4_000}, {})

    shown, rest = cuts(evidence)
    assert evidence.is_unseen
    assert shown + rest == wide * 4_000


def test_a_text_and_a_change_are_both_shown():
    evidence = present_evidence({"text": "ls", "diff": [["+", 0, 1, "a"]]}, {})

    assert evidence.shown.text == "ls"
    assert len(evidence.shown.lines) == 1


def test_u40_characters_that_hide_are_counted_in_text_change_and_arguments():
    assert present_evidence({"text": f"a{BIDI}b"}, {}).marks == "1 invisible character shown"
    assert present_evidence({"diff": [["+", 0, 1, f"{BIDI}\u200b"]]}, {}).marks.startswith("2 ")
    assert present_evidence({}, {f"a{BIDI}": f"b{BIDI}"}).marks.startswith("2 ")


def test_u40_marks_behind_the_fold_are_counted_too():
    one = long_gate(100)
    one["evidence"]["diff"][99][3] = BIDI

    assert of(one).marks == "1 invisible character shown"


def test_clean_evidence_says_nothing_of_marks():
    assert of(gate()).marks == ""
