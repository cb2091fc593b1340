"""Which of the audited files are fleetaudit's own."""

from __future__ import annotations

from pathlib import Path

from audit.collect.own_files import OwnFiles
from audit.config.json_schema import FILE_NAME as SCHEMA
from audit.config.schema import Config
from audit.record.population import FILE_NAME as POPULATION
from audit.report.files import is_report


def own_files(config: Config, working: Path) -> OwnFiles:
    """Files of the configuration, and reports of this run or another.

    Args:
        config: the configuration in effect.
        working: folder in which this run makes its files before it puts them in place.
    """
    named = [*config.waivers, *config.statements, *config.mappings, *config.twins, *config.pod_templates]
    named += [*config.components, *([config.signatures] if config.signatures else [])]
    named += [*([config.register] if config.register else []), *(key.path for key in config.snapshots.keys)]
    for registry in config.registries:
        named += [name for name in (registry.ca, registry.docker_config) if name is not None]
    if config.file:
        named += [config.file, str(Path(config.file).parent / SCHEMA)]
    folders = [working] if config.output.folder == "-" else [working, Path(config.output.folder)]
    return OwnFiles(
        configuration=frozenset(Path(name).resolve() for name in named),
        output=tuple(folder.resolve() for folder in folders),
        is_report=_is_ours,
    )


def _is_ours(path: Path) -> bool:
    return path.name.endswith(POPULATION) or is_report(path)
