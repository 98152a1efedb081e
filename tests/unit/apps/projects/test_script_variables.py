"""A variable that a script sets under a condition has no value that anybody could know without running it."""

import pytest

from stackrace.apps.projects.script_variables import ScriptVariables
from stackrace.apps.projects.shell_values import UNKNOWN
from stackrace.apps.projects.shell_words import split_words

SCRIPTS = {
    "one after the other": ("A=1\nexport B=$A", {"A": "1", "B": "1"}),
    "a default": (": ${A:=3}\n: ${B:=4}", {"A": "3", "B": "4"}),
    "only running tells it": ("A=$(cat a)", {"A": UNKNOWN}),
    "an open condition": ("A=1\nif [ -f x ]; then\n  A=2\nfi", {"A": UNKNOWN}),
    "an open condition in one line": ("A=1; if [ -f x ]; then A=2; fi", {"A": UNKNOWN}),
    "both ways agree": ("if [ -f x ]; then\n  A=2\nelse\n  A=2\nfi", {"A": "2"}),
    "both ways differ": ("if [ -f x ]; then\n  A=2\nelse\n  A=3\nfi", {"A": UNKNOWN}),
    "the same as before": ("A=2\nif [ -f x ]; then\n  A=2\nfi", {"A": "2"}),
    "what is unset gets a value": ('if [ -z "$A" ]; then\n  A=2\nfi', {"A": "2"}),
    "what is set keeps it": ('A=1\nif [ -z "$A" ]; then\n  A=2\nfi', {"A": "1"}),
    "the way that is gone": ('A=1\nif [ -n "${A}" ]; then B=2; else B=3; fi', {"A": "1", "B": "2"}),
    "the other way": ('if [[ -n "$A" ]]\nthen\n  B=2\nelse\n  B=3\nfi', {"B": "3"}),
    "several ways": (
        'if [ -f x ]; then\n A=1\nelif [ -z "$B" ]; then\n A=1\nelse\n A=9\nfi',
        {"A": "1"},
    ),
    "a case": ("case $1 in\n  web)\n    A=1 ;;\n  *)\n    A=2 ;;\nesac", {"A": UNKNOWN}),
    "a case that agrees": ("case $1 in\n  web) A=1 ;;\n  *) A=1\nesac", {"A": "1"}),
    "a loop": ("for x in a b; do\n  A=1\ndone", {"A": UNKNOWN}),
    "within one another": ("if [ -f x ]; then\n if [ -f y ]; then\n  A=1\n fi\nfi\nB=2", {"A": UNKNOWN, "B": "2"}),
    "a test before it": ('[ -z "$A" ] && A=2\n[ -f x ] && B=1\n[ -n "$A" ] || A=5', {"A": "2", "B": UNKNOWN}),
    "what succeeds before it": ("cd /srv && A=1 && export B=2", {"A": "1", "B": "2"}),
    "an end without a beginning": ("fi\nesac\nA=1\ndone", {"A": "1"}),
}  # fmt: skip


@pytest.mark.parametrize("case", SCRIPTS)
def test_what_is_known_after_a_script(case):
    text, expected = SCRIPTS[case]
    variables = ScriptVariables({})
    for line in text.splitlines():
        variables.read(split_words(line))
    assert variables.known() == expected
