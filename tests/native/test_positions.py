"""Places of paths, asked for many objects at once."""

from __future__ import annotations

from audit.native.reader import PathsWanted, Position, PositionRequest, Reader

TEXT = """# c
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: a
    image: one
  - name: b
    securityContext:
      privileged: true
---
apiVersion: v1
kind: List
items:
- kind: A
  on: 1
- kind: B
  spec: {x: 1}
"""


def ask(data: bytes, *wanted: PathsWanted) -> list[list[Position]]:
    with Reader(jobs=2) as reader:
        [answer] = list(reader.positions([PositionRequest(path="f", data=data, wanted=wanted)]))
    return answer


def test_exact_and_approximate_places() -> None:
    [places] = ask(
        TEXT.encode(),
        PathsWanted(
            document=1,
            paths=(
                ("spec", "containers", 1, "securityContext", "privileged"),
                ("spec", "containers", 1),
                ("spec", "containers", 0, "securityContext", "runAsNonRoot"),
                ("spec", "hostNetwork"),
                (),
            ),
        ),
    )
    assert places == [
        Position(11, 19, approximate=False),
        Position(9, 5, approximate=False),
        Position(7, 5, approximate=True),
        Position(5, 1, approximate=True),
        Position(2, 1, approximate=False),
    ]


def test_items_of_lists_and_normalised_keys() -> None:
    first, second = ask(
        TEXT.encode(),
        PathsWanted(document=2, item="items[0]", paths=(("true",), ("kind",))),
        PathsWanted(document=2, item="items[1]", paths=(("spec", "x"),)),
    )
    assert first == [Position(17, 7, approximate=False), Position(16, 9, approximate=False)]
    assert second == [Position(19, 13, approximate=False)]


def test_json_and_other_encodings_have_places_too() -> None:
    json_text = '{"kind": "A",\n\t"spec": {\n\t\t"a": [1, {"b": true}]}}'
    for data in (json_text.encode(), json_text.encode("utf-16"), b"\xef\xbb\xbf" + json_text.encode()):
        assert ask(data, PathsWanted(document=1, paths=(("spec", "a", 1, "b"),))) == [
            [Position(3, 18, approximate=False)]
        ]


def test_what_is_not_there_is_said_and_not_guessed() -> None:
    [missing], [broken], [item] = ask(
        b"a: 1\n---\nb: [\n",
        PathsWanted(document=9, paths=(("a",),)),
        PathsWanted(document=2, paths=(("b",),)),
        PathsWanted(document=1, item="items[4]", paths=(("a",),)),
    )
    assert missing == Position(0, 0, approximate=True)
    assert broken == Position(3, 0, approximate=True)
    assert item == Position(1, 0, approximate=True)


def test_many_files_in_order() -> None:
    requests = [
        PositionRequest(
            path=str(n),
            data=("\n" * n + "a:\n  b: 1\n---\n" * 40).encode(),
            wanted=tuple(PathsWanted(document=d, paths=(("a", "b"),)) for d in range(1, 41)),
        )
        for n in range(1, 300)
    ]
    with Reader(jobs=2) as reader:
        answers = list(reader.positions(requests))
    for n, answer in enumerate(answers, start=1):
        assert [place.line for [place] in answer] == [n + 2 + 3 * d for d in range(40)]
