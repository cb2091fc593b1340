"""``fleetaudit report``: other formats from a JSON report, without auditing again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit report out/report.json --format sarif,junit  # beside the JSON report",
    "fleetaudit report out/report.json --format html --lang zh-CN -o out-zh",
    "fleetaudit report out/report.json --format markdown -o -  # to standard output",
)


def report(
    result: Annotated[str, o.argument("RESULT.json", "A JSON report written by run.")],
    *,
    formats: o.Formats = None,
    output: o.Output = None,
    lang: o.Lang = None,
) -> int:
    """Render a JSON report in other formats.

    The numbers are those of the result; nothing is audited again, and the exit code says only whether the reports could
    be written. Reports go beside the result unless --output is given.
    """
    from audit.cli.choices import LANGUAGES, formats_of, one_of
    from audit.cli.delivery import STDOUT, copy_to_stdout, render
    from audit.cli.results import load_result
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.cli.wording import label
    from audit.errors import UsageError

    surroundings = environment()
    wanted = formats_of(formats or ["html"])
    language = one_of("--lang", lang or surroundings.lang or "en", LANGUAGES)
    if output == STDOUT and len(wanted) != 1:
        raise UsageError(
            f"-o - prints one format, and {len(wanted)} are asked for", suggestion="name one --format"
        )
    loaded = load_result(Path(result))
    if output == STDOUT:
        copy_to_stdout(loaded, wanted, language)
        return 0
    screen = stdout_screen(color=not surroundings.no_color)
    for path in render(loaded, wanted, language, Path(output) if output else Path(result).parent):
        screen.line(label("Report"), str(path))
    screen.flush()
    return 0
