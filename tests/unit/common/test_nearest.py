"""The name that was meant."""

from felix_web.common.nearest import nearest


def test_a_slip_of_the_keyboard_finds_its_name():
    assert nearest("FELIX_PROT", ["FELIX_PORT", "FELIX_BIND"]) == "FELIX_PORT"
    assert nearest("shel", ["Shell", "edit_file"]) == "Shell"


def test_a_strange_word_finds_nothing():
    assert nearest("zebra", ["Shell", "edit_file"]) is None
    assert nearest("", ["Shell"]) is None
    assert nearest("shell" * 100, ["shell"]) is None
