"""What every engine for Rego rules owes: one program with every shape of answer, and the answers wanted."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from audit.evaluate.opa_server.program import Program
from audit.native.evaluator import EvalRule
from tests.opa_server.programs import program_of

APPLIES = "default applies := false\napplies if input.metadata.name\n"


class Shape(NamedTuple):
    """A rule, and what it must answer about a Pod called p."""

    body: str
    outcome: str
    reason: str = ""
    message: str = ""
    seen: Any = None


def _one(expression: str) -> str:
    return f"{APPLIES}violations contains {expression}\n"


def _violation(**values: str) -> str:
    fields = {"path": '["metadata", "name"]', "message": '"m"'} | values
    return "{" + ", ".join(f'"{key}": {value}' for key, value in fields.items() if value) + "}"


def _seen(value: str) -> str:
    return _one(_violation(seen=value))


BIG = "x" * 9000
BUILTIN_ERROR = "builtin_error"
"""Rule that calls a builtin on a value it doesn't take. Rules of a server's own bundle can't report that."""
CONFLICT = 'f(x) := "a" if x > 0\nf(x) := "b" if x > 0\n'

SHAPES: dict[str, Shape] = {
    "passes": Shape(APPLIES + "violations contains v if { false; v := {} }\n", "pass"),
    "fails": Shape(_seen("input.metadata.name"), "fail", seen="p"),
    "skips": Shape("default applies := false\nviolations contains {}\n", "skip", "no_name"),
    "nothing_applies": Shape(
        "applies if input.nothing\nviolations contains {}\n", "error", "undefined", "applies is undefined"
    ),
    "odd_applies": Shape(
        'applies := "yes"\nviolations contains {}\n', "error", "bad_answer", "applies is no boolean"
    ),
    "null_applies": Shape(
        "applies := null\nviolations contains {}\n", "error", "bad_answer", "applies is no boolean"
    ),
    "nothing_violations": Shape(
        APPLIES + "violations := x if { x := input.nothing }\n",
        "error",
        "undefined",
        "violations is undefined",
    ),
    "object_violations": Shape(
        APPLIES + 'violations := {"a": 1}\n', "error", "bad_answer", "violations is no set"
    ),
    "list_violations": Shape(APPLIES + "violations := []\n", "error", "bad_answer", "violations is no set"),
    "empty_set": Shape(APPLIES + "violations := set()\n", "pass"),
    "number_member": Shape(_one("1"), "error", "bad_answer", "a violation is no object"),
    "unknown_key": Shape(
        _one(_violation(extra="1")), "error", "bad_answer", 'a violation has the unknown key "extra"'
    ),
    "number_key": Shape(
        _one('{"path": [], "message": "m", 7: 1}'), "error", "bad_answer", "a violation has the unknown key 7"
    ),
    "no_path": Shape(_one(_violation(path="")), "error", "bad_answer", "a violation has no path"),
    "text_path": Shape(
        _one(_violation(path='"a"')), "error", "bad_answer", "the path of a violation is no array"
    ),
    "set_path": Shape(
        _one(_violation(path='{"a"}')), "error", "bad_answer", "the path of a violation is no array"
    ),
    "index_path": Shape(_one(_violation(path='["a", 0, 12]')), "fail"),
    "negative_path": Shape(
        _one(_violation(path='["a", -1]')), "error", "bad_answer", "the path of a violation has the index -1"
    ),
    "fraction_path": Shape(
        _one(_violation(path='["a", input.half]')),
        "error",
        "bad_answer",
        "the path of a violation has the index 0.50",
    ),
    "bool_path": Shape(
        _one(_violation(path="[true]")),
        "error",
        "bad_answer",
        "the path of a violation has a segment that is neither text nor number",
    ),
    "no_message": Shape(_one(_violation(message="")), "error", "bad_answer", "a violation has no message"),
    "odd_message": Shape(
        _one(_violation(message="null")), "error", "bad_answer", "the message of a violation is no text"
    ),
    "odd_container": Shape(
        _one(_violation(container="3")), "error", "bad_answer", "the container of a violation is no text"
    ),
    "conflict": Shape(
        f"{CONFLICT}{APPLIES}violations contains {_violation(message='f(1)')}\n",
        "error",
        "eval_conflict_error",
        "conflict.rego:4: function data.r.conflict.f produced conflicting values for the same inputs: "
        '"a" at conflict.rego:3 "b" at conflict.rego:4',
    ),
    "undecided": Shape(
        _one(_violation(message='"labels unknown"', undecided="true")),
        "error",
        "undecided",
        "labels unknown",
    ),
    "undecided_beside_a_violation": Shape(
        _one(_violation(message='"b"', undecided="true")) + f"violations contains {_violation(seen='1')}\n",
        "fail",
        seen=1,
    ),
    "undecided_twice": Shape(
        _one(_violation(message='"b"', undecided="true"))
        + "violations contains "
        + _violation(message='"a"', undecided="true")
        + "\n",
        "error",
        "undecided",
        "a; b",
    ),
    "not_undecided": Shape(_one(_violation(undecided="false")), "fail"),
    BUILTIN_ERROR: Shape(
        APPLIES + f'violations contains {_violation()} if to_number("x") == 1\n',
        "error",
        "eval_builtin_error",
        f'{BUILTIN_ERROR}.rego:5: to_number: strconv.ParseFloat: parsing "x": invalid syntax',
    ),
    "warns": Shape(_one(_violation()), "warn"),
    "long_message": Shape(
        _one(_violation(message='concat("", ["é" | some _ in numbers.range(1, 5000)])')), "fail"
    ),
    "long_value": Shape(_seen("input.long"), "fail", seen="(a value of 18003 bytes)"),
    "long_list": Shape(_seen("numbers.range(1, 3000)"), "fail", seen="(a value of 14495 bytes)"),
    "many": Shape(
        APPLIES + 'violations contains {"path": [i], "message": "m"} if some i in numbers.range(1, 1500)\n',
        "fail",
    ),
    "integers": Shape(
        _seen("input.integers"), "fail", seen=[0, -1, 128, 70000, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1]
    ),
    "doubles": Shape(_seen("input.doubles"), "fail", seen=[1.5, -0.25, 1e300, 100.0, 1e21, 2.0**70, "1e999"]),
    "odd_text": Shape(
        _seen('"é \\u0000 \\u001f 🚀 </script> \\\\ \\""'), "fail", seen='é \x00 \x1f 🚀 </script> \\ "'
    ),
    "binary_text": Shape(_seen('base64.decode("/w==")'), "fail", seen="\ufffd"),
    "sets": Shape(
        _seen('{"s": {3, 1, 2}, "e": set(), "n": null}'), "fail", seen={"s": [1, 2, 3], "e": [], "n": None}
    ),
    "odd_keys": Shape(
        _seen('{1: "a", true: "b", null: "c"}'), "fail", seen={"1": "a", "true": "b", "null": "c"}
    ),
    "library": Shape("import data.lib.x\n" + _seen("x.names[0]"), "fail", seen="p"),
    "library_rule": Shape("import data.lib.x.names\n" + _seen("names[0]"), "fail", seen="p"),
    "library_alias": Shape("import data.lib.x as y\n" + _seen("y.twice(y.names[0])"), "fail", seen="pp"),
    "library_whole": Shape(
        "import data.lib.whole\n" + _seen("[k | some k, _ in whole]"), "fail", seen=["one", "two"]
    ),
    "library_by_name": Shape(
        _seen('[v | some n in ["one", "two"]; v := data.lib.whole[n]]'), "fail", seen=[1, 2]
    ),
    "shadowed": Shape(
        "import data.lib.x\n" + _seen('[x.names | some x in [{"names": 1}]]'),
        "fail",
        seen=[1],
    ),
    "own_names": Shape(
        _seen('[helper, input.helper, {"helper": helper}.helper, [helper | some helper in [5]], twice(2)]')
        + "helper := 3\ntwice(helper) := helper * 2\n",
        "fail",
        seen=[3, "theirs", 3, [5], 4],
    ),
    "template": Shape(
        _seen('$"{input.metadata.name}-{data.lib.x.names[0]}-\\{data.lib.x}"'),
        "fail",
        seen="p-p-{data.lib.x}",
    ),
    "mocked": Shape(
        "import data.lib.x\n"
        + APPLIES
        + 'violations contains v if { s := x.first with data.lib.x.names as ["other"]; v := '
        + _violation(seen="s")
        + " }\n",
        "fail",
        seen="other",
    ),
    "parameters": Shape(_seen('data.parameters["r/parameters"].limit'), "fail", seen=3),
    "inventory": Shape(
        _seen('[o.metadata.name | some o in data.inventory["v1/Node"][""]]'), "fail", seen=["n1", "n2"]
    ),
    "inventory_through_library": Shape(
        "import data.lib.world\n" + _seen("world.nodes"), "fail", seen=["n1", "n2"]
    ),
}

LIBRARY = {
    "lib/x.rego": "package lib.x\n\nnames := [input.metadata.name]\n\nfirst := names[0]\n\n"
    'twice(text) := concat("", [text, text])\n',
    "lib/whole.rego": "package lib.whole\n\none := 1\n\ntwo := 2\n",
    "lib/world.rego": 'package lib.world\n\nnodes := [o.metadata.name | some o in data.inventory["v1/Node"][""]]\n',
}
ODD_PACKAGE = 'package r["odd-name"]\n\nimport data.lib.x\n\n' + _seen("x.names")
V0 = (
    "package r.old\n\ndefault applies = false\n\napplies { input.metadata.name }\n\n"
    'violations[v] { v := {"path": [], "message": "old"} }\n'
)


ALL_SHAPES = ("Pod", "Node", "apps/Deployment", "derived:Namespace")


def program(*, old: bool = False) -> Program:
    """All shapes, asked of every kind; a few more rules for some kinds only.

    Args:
        old: with a module in the older dialect, which a running server takes as a bundle only.
    """
    modules = LIBRARY | {
        f"{name}.rego": f"package r.{name}\n\n{shape.body}" for name, shape in SHAPES.items()
    }
    modules["odd-name.rego"] = ODD_PACKAGE
    rules = [
        EvalRule(
            id=f"r/{name}",
            package=f"r.{name}",
            kinds=ALL_SHAPES,
            not_applicable="no_name",
            warn_only=name == "warns",
        )
        for name in SHAPES
    ]
    rules += [
        EvalRule(id="r/odd-name", package='r["odd-name"]', kinds=("Pod",)),
        EvalRule(id="r/again", package="r.fails", kinds=("apps/Deployment", "Pod", "Secret")),
        EvalRule(id="r/derived", package="r.fails", kinds=("derived:Namespace",)),
    ]
    if old:
        modules["old.rego"] = V0
        rules.append(EvalRule(id="r/old", package="r.old", kinds=ALL_SHAPES))
    return program_of(modules, rules, {"parameters": {"r/parameters": {"limit": 3}}, "pod_templates": {}})


INVENTORY = b'{"v1/Node":{"":[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]}}'
OTHER_INVENTORY = b'{"v1/Node":{"":[]}}'

_SUBJECT = (
    '{"kind":"Pod","metadata":{"name":"p"},"half":0.50,"helper":"theirs",'
    f'"long":"{"é" * 9000}",'
    '"integers":[0,-1,128,70000,9007199254740993,9223372036854775807,-9223372036854775808,18446744073709551615],'
    '"doubles":[1.5,-0.25,1e300,1e2,1e21,1180591620717411303424,1e999]}'
).encode()

OBJECTS: list[tuple[str, bytes]] = [
    ("Pod", _SUBJECT),
    ("Pod", b"{}"),
    ("Pod", b"null"),
    ("Pod", b"[1]"),
    ("Node", json.dumps({"metadata": {"name": "n"}}).encode()),
    ("apps/Deployment", b'{"metadata":{"name":"\\ud83d\\ude80 \\u2028"}}'),
    ("derived:Namespace", b'{"metadata":{"name":"ns"}}'),
    ("Pod", b'{"metadata":{"name":"a"},"metadata":{"name":"b"}}'),
    ("Secret", b'{"metadata":{"name":"s"}}'),
    ("Event", b'{"metadata":{"name":"e"}}'),
]
