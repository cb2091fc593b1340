"""All benchmarks: fleetaudit against its peers in the same run, printed as ratios.

    python bench/run.py [--quick] [SCENARIO ...]

Scenarios: mixed, pods, memory, html, start, cache, harness, kyverno. Figures go to bench/results/latest.json as well.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import generate
import peers
from measure import Measured, in_turn, measure, median_of

FLEETAUDIT = [sys.executable, "-m", "audit"]
FIFTEEN_RULES = (
    "pod/privileged",
    "pod/host-namespaces",
    "pod/host-path-volume",
    "pod/host-ports",
    "pod/privilege-escalation",
    "pod/run-as-non-root",
    "pod/read-only-root-filesystem",
    "pod/capabilities-restricted",
    "pod/seccomp-restricted",
    "image/mutable-tag",
    "image/digest-pinned",
    "resources/memory-limit",
    "resources/requests-set",
    "availability/liveness-probe",
    "serviceaccount/token-automount",
)


class Bench:
    """One benchmark session: a scratch folder, the number of runs, the figures so far."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self.folder = folder
        self.runs = 1 if quick else 3
        self.scale = 10 if quick else 1
        self.figures: dict[str, Any] = {}

    def rules(self) -> list[peers.Rule]:
        out = subprocess.run([*FLEETAUDIT, "rules", "--json"], check=True, capture_output=True, text=True)
        listed: list[peers.Rule] = json.loads(out.stdout)
        return [rule for rule in listed if rule["engine"] == "rego"]

    def ours(self, source: Path, *options: str) -> list[str]:
        return [
            *FLEETAUDIT,
            "run",
            str(source),
            "--format",
            "json",
            "--output",
            str(self.folder / "out"),
            "--quiet",
            "--no-progress",
            "--no-cache",
            *options,
        ]

    def say(self, name: str, ours: Measured, peer: Measured, wanted: float) -> None:
        ratio = peer.wall / ours.wall
        print(
            f"{name}: fleetaudit {ours.wall:.2f} s ({ours.cpu:.2f} s CPU, {ours.peak_bytes / 1e6:.0f} MB), "
            f"peer {peer.wall:.2f} s ({peer.cpu:.2f} s CPU, {peer.peak_bytes / 1e6:.0f} MB): "
            f"{ratio:.2f}x (wanted {wanted}x)"
        )
        self.figures[name] = {
            "ours": ours._asdict(),
            "peer": peer._asdict(),
            "ratio": ratio,
            "wanted": wanted,
        }


def mixed(bench: Bench) -> None:
    """10,000 mixed objects x all rules against conftest and opa exec."""
    count = 10_000 // bench.scale
    rules = bench.rules()
    peers.write_policies(bench.folder / "all", rules)
    files, documents = bench.folder / "json", bench.folder / "yaml"
    generate.write_json(generate.objects(count), files)
    generate.write_yaml(generate.objects(count), documents, 500)
    print(f"mixed: {count} objects x {len(rules)} rules")
    all_ = bench.folder / "all"
    conftest = [peers.conftest(), "test", "-o", "json", "-p", str(all_ / "policy"), "-d", str(all_ / "data")]
    ours, peer = in_turn(bench.ours(documents), [*conftest, str(documents)], bench.runs)
    bench.say("mixed YAML, conftest", ours, peer, 2.5)
    bundle = bench.folder / "bundle"
    shutil.copytree(all_ / "policy", bundle, dirs_exist_ok=True)
    shutil.copy(all_ / "data" / "data.json", bundle / "data.json")
    exec_ = [peers.opa(), "exec", "--bundle", str(bundle), "--decision", "main/deny", str(files)]
    ours, peer = in_turn(bench.ours(files), exec_, bench.runs)
    bench.say("mixed JSON, opa exec", ours, peer, 1.3)


def pods(bench: Bench) -> None:
    """5,000 Pods x 15 rules against conftest."""
    count = 5_000 // bench.scale
    chosen = [rule for rule in bench.rules() if rule["id"] in FIFTEEN_RULES]
    if len(chosen) != len(FIFTEEN_RULES):
        raise SystemExit("some of the fifteen rules are gone")
    peers.write_policies(bench.folder / "fifteen", chosen)
    documents = bench.folder / "pods"
    generate.write_yaml(generate.pods(count), documents, count)
    options = [part for rule in FIFTEEN_RULES for part in ("--rule", rule)]
    fifteen = bench.folder / "fifteen"
    conftest = [
        peers.conftest(),
        "test",
        "-o",
        "json",
        "-p",
        str(fifteen / "policy"),
        "-d",
        str(fifteen / "data"),
    ]
    ours, peer = in_turn(bench.ours(documents, *options), [*conftest, str(documents)], bench.runs)
    bench.say("5,000 pods x 15 rules, conftest", ours, peer, 3.0)


def memory(bench: Bench) -> None:
    """Ten clusters of 10,000 objects against one: memory must not grow with the fleet."""
    count = 10_000 // bench.scale
    for number in range(10):
        generate.write_yaml(generate.objects(count, seed=number), bench.folder / f"c{number}", 500)
    peaks = []
    for clusters in (1, 10):
        listed = "".join(f"  - {{name: c{n}, paths: [{bench.folder}/c{n}]}}\n" for n in range(clusters))
        config = bench.folder / f"fleet-{clusters}.yaml"
        config.write_text(f"clusters:\n{listed}")
        command = [
            *FLEETAUDIT,
            "run",
            "--config",
            str(config),
            "--format",
            "json",
            "--quiet",
            "--no-progress",
            "--no-cache",
        ]
        done = measure([*command, "--output", str(bench.folder / "out")])
        peaks.append(done.peak_bytes)
        print(f"memory: {clusters * count} objects: {done.peak_bytes / 1e6:.0f} MB peak, {done.wall:.1f} s")
    ratio = peaks[1] / peaks[0]
    print(f"memory: {ratio:.2f}x for ten times the objects (wanted at most 1.3x, and under 1000 MB)")
    bench.figures["memory"] = {"peaks": peaks, "ratio": ratio, "wanted": 1.3}


def html(bench: Bench) -> None:
    """The HTML of about 20,000 findings, apart from everything else."""
    from audit.report.html import HtmlWriter
    from audit.report.json_writer import load_report

    documents = bench.folder / "html"
    generate.write_yaml(generate.objects(10_000 // bench.scale), documents, 500)
    measure(bench.ours(documents))
    result = load_report(bench.folder / "out" / "report.json")
    findings = result.group_source.counts().findings
    HtmlWriter().write(result, bench.folder / "out")
    start = time.perf_counter()
    HtmlWriter().write(result, bench.folder / "out")
    seconds = time.perf_counter() - start
    each = seconds * 20_000 / findings
    print(f"html: {findings} findings in {seconds:.2f} s: {each:.2f} s per 20,000 (wanted at most 0.3 s)")
    bench.figures["html"] = {"findings": findings, "seconds": seconds, "per_20000": each, "wanted": 0.3}


def start(bench: Bench) -> None:
    """The whole audit of examples/fleet, from process start to written reports; and `--help`."""
    command = [*FLEETAUDIT, "run", "--config", str(peers.ROOT / "examples" / "fleet" / "fleetaudit.yaml")]
    command += ["--output", str(bench.folder / "out"), "--quiet", "--no-progress", "--no-cache"]
    measure(command)
    done = measure(command)
    print(f"start: examples/fleet audited in {done.wall:.2f} s (wanted under 1.5 s to the first finding)")
    offered = median_of([*FLEETAUDIT, "--help"], bench.runs)
    bare = median_of([sys.executable, "-c", "pass"], bench.runs)
    helped = offered.cpu - bare.cpu
    print(f"start: --help took {helped:.2f} s CPU more than the bare interpreter (wanted under 0.15 s)")
    bench.figures["start"] = {"seconds": done.wall, "wanted": 1.5, "help_seconds": helped}


def cache(bench: Bench) -> None:
    """A second run after one object in a hundred changed, and a pre-merge run over 300 manifests, answers known."""
    count = 10_000 // bench.scale
    documents = bench.folder / "cached"
    generate.write_yaml(generate.objects(count), documents, 100)
    command = _with_cache(bench, documents)
    first = measure(command)
    _change(documents, one_in=100)
    second = measure(command)
    share = second.wall / first.wall
    print(
        f"cache: {count} objects: {first.wall:.2f} s ({first.cpu:.2f} s CPU), with 1 % changed {second.wall:.2f} s "
        f"({second.cpu:.2f} s CPU): {share:.1%} (wanted 5 %)"
    )
    small = bench.folder / "premerge"
    generate.write_yaml(generate.objects(300), small, 1)
    command = _with_cache(bench, small)
    measure(command)
    warm = median_of(command, bench.runs)
    print(f"cache: pre-merge run over 300 manifests, answers known: {warm.wall:.2f} s (wanted under 2 s)")
    bench.figures["cache"] = {
        "first": first._asdict(),
        "second": second._asdict(),
        "share": share,
        "premerge_seconds": warm.wall,
        "wanted": {"share": 0.05, "premerge_seconds": 2.0},
    }


def _with_cache(bench: Bench, source: Path) -> list[str]:
    ours = [part for part in bench.ours(source) if part != "--no-cache"]
    return ["env", f"FLEETAUDIT_CACHE={bench.folder / 'answers'}", *ours]


def _change(folder: Path, *, one_in: int) -> None:
    """Another image tag in one object of so many: the commonest change between two runs."""
    number = 0
    for file in sorted(folder.glob("*.yaml")):
        documents = file.read_text().split("\n---\n")
        for place, document in enumerate(documents):
            if "image: " not in document:
                continue
            number += 1
            if number % one_in == 0:
                documents[place] = re.sub(r"(image: \S+)", r"\1-changed", document, count=1)
        file.write_text("\n---\n".join(documents))


def kyverno(bench: Bench) -> None:
    """Kyverno policies: the batch child against the CLI, per pair, with the same verdicts."""
    import kyverno as figures

    count = 5_000 // bench.scale
    bench.figures["kyverno"] = figures.figures(
        list(generate.pods(count)), cel_share=25 // min(5, bench.scale)
    )


FIFTEEN_POLICIES = (
    "privileged",
    "host-namespaces",
    "host-path-volume",
    "host-ports",
    "privilege-escalation",
    "run-as-non-root",
    "read-only-root-filesystem",
    "capabilities-restricted",
    "seccomp-restricted",
    "host-process",
    "proc-mount",
    "selinux",
    "sysctls",
    "volume-types",
    "run-as-user-nonzero",
)


def harness(bench: Bench) -> None:
    """5,000 Pods x 15 Kyverno policies: the whole command, CLI inside, against the bare CLI."""
    count = 5_000 // bench.scale
    policies, documents = bench.folder / "policies", bench.folder / "kyverno-pods"
    policies.mkdir()
    for name in FIFTEEN_POLICIES:
        text = (peers.ROOT / "policies" / "pod" / name / f"{name}.yaml").read_text()
        # Alone, not as the twin of a Rego rule: the peer asks once, too.
        (policies / f"{name}.yaml").write_text(re.sub(r"\n    fleetaudit.dev/twin: .*", "", text))
    generate.write_yaml(generate.pods(count), documents, count)
    bare = [
        str(peers.tools_folder() / "bin" / "kubectl-kyverno"),
        "apply",
        str(policies),
        "-r",
        str(documents),
    ]
    bare += ["-p", "--output-format", "json", "--remove-color"]
    config = bench.folder / "harness.yaml"
    config.write_text(
        f"policy: {{paths: [{policies}]}}\nrules: {{select: ['kyverno:*']}}\nengine: {{kyverno: {{batch: 'off'}}}}\n"
    )
    ours, peer = in_turn(bench.ours(documents, "--config", str(config)), bare, bench.runs)
    bench.say("5,000 pods x 15 Kyverno policies, the bare CLI", ours, peer, 1.8)
    config.write_text(config.read_text().replace("'off'", "auto"))
    ours, peer = in_turn(bench.ours(documents, "--config", str(config)), bare, 1)
    bench.say("the same with the batch child", ours, peer, 5.0)


SCENARIOS: dict[str, Callable[[Bench], None]] = {
    "mixed": mixed,
    "pods": pods,
    "memory": memory,
    "html": html,
    "start": start,
    "cache": cache,
    "kyverno": kyverno,
    "harness": harness,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="all of them by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the objects, once: a smoke test")
    chosen = parser.parse_args()
    # An installed package has its bytecode; a machine that writes none would compile all of it at every start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    machine = (
        f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"
    )
    print(f"machine: {machine}")
    with tempfile.TemporaryDirectory(prefix="fleetaudit-bench-") as folder:
        bench = Bench(Path(folder), quick=chosen.quick)
        for name in chosen.scenario or SCENARIOS:
            SCENARIOS[name](bench)
        results = Path(__file__).parent / "results"
        results.mkdir(exist_ok=True)
        (results / "latest.json").write_text(
            json.dumps({"machine": machine, "figures": bench.figures}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
