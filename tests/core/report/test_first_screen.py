"""One screen has all that has a priority, and gives its lines to the most important first."""

from stackrace.report.first_screen import first_screen
from stackrace.report.sheet import ONLY_FIRST, Column, Medium, Paragraph, Section, Table, shown


def text(priority, lines, **more):
    """Return a text of so many lines."""
    return Paragraph(text="x" * lines, priority=priority, **more)


def table(rows):
    """Return a table whose rows have two lines each if there is room."""
    return Table(columns=(Column(title="", cells=("x",) * rows),), priority=2)


def height(block):
    """Return the lines of a block in its room, as texts and tables have them."""
    if isinstance(block, Table):
        rows = len(block.columns[0].cells)
        return 1 + min(2 * rows, rows + block.room - 1)
    return min(len(block.text), block.room)


def rooms(*sections):
    """Return the lines that each block gets."""
    chosen = first_screen(sections, height)
    return [height(block) for section in chosen for block in section.blocks]


def section(*blocks, title=""):
    return Section(title=title, blocks=blocks)


def test_no_text_is_cut_where_there_is_room_but_for_endless_ones():
    assert rooms(section(text(1, 2), text(2, 9)), section(table(3), title="Standing")) == [2, 3, 7]


def test_the_most_important_have_their_lines_first_and_each_has_one():
    above = section(text(1, 3), text(3, 3))
    below = section(*(text(4, 3) for _ in range(10)))
    assert rooms(above, section(table(7), title="Standing"), below) == [3, 1, 11, *[1] * 10]


def test_a_long_table_makes_the_screen_longer():
    above = section(text(1, 3), text(3, 3))
    assert sum(rooms(above, section(table(40), title="Standing"))) == 28 + 33 - 2


def test_what_has_no_priority_is_left_to_the_whole_report_and_the_other_way_round():
    sections = (section(text(1, 1), text(0, 1)), section(text(1, 1, media=ONLY_FIRST)), section(text(0, 1)))
    assert [len(each.blocks) for each in shown(first_screen(sections, height), Medium.SCREEN)] == [1, 1]
    assert [len(each.blocks) for each in shown(sections, Medium.SCREEN)] == [2, 1]


def test_a_report_without_priorities_is_shown_as_it_is():
    sections = (section(text(0, 9)), section(text(0, 50)))
    assert first_screen(sections, height) == sections
