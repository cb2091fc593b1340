"""Moving a module to a package of its own, as Gatekeeper and Kubescape do by compiling each rule apart.

Only the package clause and references to the moved packages change; every line stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audit.library.foreign.lexer import Kind, Token, tokens
from audit.library.foreign.steps import Path, rego_path

_MAX_STEPS = 16


def relocate(text: str, moved: Mapping[Path, Path]) -> str:
    """The same module with its packages moved.

    Args:
        text: Rego.
        moved: package, or the beginning of packages, to what stands in its stead. The last step must stay the same
            where a module imports the package without a name of its own.
    """
    all_tokens = [token for token in tokens(text) if token.kind is not Kind.COMMENT]
    edits: list[tuple[int, int, str]] = []
    for index, token in enumerate(all_tokens):
        if token.kind is not Kind.NAME:
            continue
        if token.text == "package" and not edits and _first_on_line(all_tokens, index):
            edits += _edit(all_tokens, index + 1, 0, moved, prefix=())
        elif token.text == "data" and not _after_dot(all_tokens, index):
            edits += _edit(all_tokens, index, 1, moved, prefix=("data",))
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


def package_in(text: str) -> Path:
    """The package a text is in; empty when it names none."""
    all_tokens = [token for token in tokens(text) if token.kind is not Kind.COMMENT]
    for index, token in enumerate(all_tokens):
        if token.text == "package" and _first_on_line(all_tokens, index):
            return tuple(_steps(all_tokens, index + 1)[0])
    return ()


def _edit(
    all_tokens: Sequence[Token], index: int, skip: int, moved: Mapping[Path, Path], *, prefix: Path
) -> list[tuple[int, int, str]]:
    steps, ends = _steps(all_tokens, index)
    for size in range(len(steps), skip, -1):
        new = moved.get(tuple(steps[skip:size]))
        if new is not None:
            return [(all_tokens[index].start, ends[size - 1], rego_path((*prefix, *new)))]
    return []


def _steps(all_tokens: Sequence[Token], index: int) -> tuple[list[str], list[int]]:
    """Constant steps of the reference that begins here, and the offset after each."""
    if index >= len(all_tokens) or all_tokens[index].kind is not Kind.NAME:
        return [], []
    steps, ends = [all_tokens[index].text], [all_tokens[index].end]
    index += 1
    while len(steps) < _MAX_STEPS and index + 1 < len(all_tokens):
        sign, following = all_tokens[index], all_tokens[index + 1]
        if sign.text == "." and following.kind is Kind.NAME:
            steps.append(following.text)
            ends.append(following.end)
            index += 2
        elif (
            sign.text == "["
            and following.kind is Kind.STRING
            and index + 2 < len(all_tokens)
            and all_tokens[index + 2].text == "]"
        ):
            steps.append(following.text)
            ends.append(all_tokens[index + 2].end)
            index += 3
        else:
            break
    return steps, ends


def _first_on_line(all_tokens: Sequence[Token], index: int) -> bool:
    return index == 0 or all_tokens[index - 1].kind is Kind.NEWLINE


def _after_dot(all_tokens: Sequence[Token], index: int) -> bool:
    return (
        index > 0
        and all_tokens[index - 1].text == "."
        and all_tokens[index - 1].end == all_tokens[index].start
    )
