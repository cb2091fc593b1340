"""The batch child: same answers as the CLI's, compared with them, and an error for whatever it can't answer."""

from __future__ import annotations

import stat
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.evaluate.kyverno import KyvernoOptions
from audit.evaluate.kyverno.batch.program import OVERRIDE
from audit.evaluate.kyverno.run import Effort
from tests.kyverno.conftest import NO_LATEST, Judge, Judgement, Stand, pod, policy
from tests.kyverno.test_cel_policies import admission, binding, validating

pytestmark = pytest.mark.tools
LATEST = policy("tags", NO_LATEST)
ALL = LATEST + validating("cel") + admission("vap", bindings=binding("b", "vap"))
RULES = ("tags/no-latest", "cel/validate", "vap/admission")
NEVER = 1 << 62
"""Nothing is judged by both for its own sake."""


def options(every: int = NEVER, cli: str | None = None, **effort: float) -> KyvernoOptions:
    return KyvernoOptions(cli=cli, batch="required", jobs=2, compare_every=every, effort=Effort(**effort))  # type: ignore[arg-type]


def pods(number: int) -> str:
    return "".join(pod(f"p{n}", "nginx:latest" if n % 3 else "nginx:1") for n in range(number))


def said(found: Judgement) -> str:
    assert found.engine is not None
    return "\n".join(notice.message for notice in found.engine.notices())


@pytest.fixture
def without_cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FLEETAUDIT_KYVERNO", raising=False)


@pytest.fixture
def child_stand_in(batch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A script between the engine and the real child: `body` sees every request as `kind` and `payload`."""

    def make(body: str) -> None:
        script = tmp_path / "between"
        text = f"""
        import os, struct, subprocess, sys, threading, time
        if sys.argv[1:] != ["judge"]:
            os.execv({str(batch)!r}, [{str(batch)!r}, *sys.argv[1:]])
        real = subprocess.Popen([{str(batch)!r}, "judge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        def out():
            while data := os.read(real.stdout.fileno(), 1 << 16):
                os.write(1, data)
        def die(code):
            real.kill()
            os._exit(code)
        threading.Thread(target=out, daemon=True).start()
        while head := sys.stdin.buffer.read(9):
            length, kind, request = struct.unpack(">IBI", head)
            payload = sys.stdin.buffer.read(length - 5)
            kind = chr(kind)
        """
        lines = f"#!{sys.executable}" + textwrap.dedent(text) + textwrap.indent(textwrap.dedent(body), "    ")
        script.write_text(f"{lines}\n    real.stdin.write(head + payload); real.stdin.flush()\ndie(0)\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(OVERRIDE, str(script))

    return make


def test_the_child_answers_as_the_cli_does(judge: Judge, batch: Path) -> None:
    ours = judge(ALL, pods(40), options=options())
    assert ours.runs == 3  # the trial of each family
    theirs = judge(ALL, pods(40), options=KyvernoOptions(jobs=1))
    assert ours.answers == theirs.answers
    assert ours.engine is not None
    version = ours.engine.version()
    assert (version.name, version.version) == ("kyverno", "1.19.1")
    assert version.details["interface"] == "batch child"
    assert version.details["reference"].startswith("Kyverno CLI 1.19")
    assert "gave 120 answers; 0 of them were asked of the Kyverno CLI too, and 0 differed" in said(ours)


def test_a_share_of_the_objects_is_judged_by_both_whatever_the_order(judge: Judge, batch: Path) -> None:
    first = judge(LATEST, pods(60), options=options(every=4))
    text = said(first)
    compared = int(text.split("; ")[1].split()[0])
    assert 4 <= compared <= 30
    backwards = judge(LATEST, list(reversed(first.objects)), options=options(every=4))
    assert said(backwards) == text
    assert list(reversed(backwards.answers)) == first.answers


def test_a_difference_is_an_error_and_nobodys_word_counts(judge: Judge, batch: Path, stand_in: Stand) -> None:
    body = r"""
    done = real()
    give(done, re.sub(rb'("policy":"tags".{1,400}?"result":)"fail"', rb'\1"pass"', done.stdout))
    """
    found = judge(LATEST, pods(9), options=options(every=1, cli=stand_in(body)))
    outcomes = {found.outcome("tags/no-latest", f"p{n}") for n in range(9) if n % 3}
    assert outcomes == {"error engines_differ"}
    assert "Kyverno's engine says fail" in found.of("tags/no-latest", "p1").message
    assert "the CLI says pass" in found.of("tags/no-latest", "p1").message
    assert found.outcome("tags/no-latest", "p0") == "pass"
    assert "and 6 differed" in said(found)


def test_a_row_only_one_of_them_gives_is_a_difference(judge: Judge, batch: Path, stand_in: Stand) -> None:
    body = r"""
    done = real()
    give(done, done.stdout.replace(b'"policy":"tags"', b'"policy":"gone"'))
    """
    found = judge(LATEST, pods(3), options=options(every=1, cli=stand_in(body)))
    assert found.outcome("tags/no-latest", "p0") == "error engines_differ"
    assert "the CLI says nothing" in found.of("tags/no-latest", "p0").message


def test_every_object_of_a_policy_that_raised_is_judged_by_both(judge: Judge, batch: Path) -> None:
    raising = validating("raises", "object.metadata.labels['a'] == 'b'")
    labelled = pod("fine").replace("namespace: shop}", "namespace: shop, labels: {a: b}}")
    found = judge(raising + LATEST, pods(5) + labelled, options=options())
    assert found.outcome("raises/validate", "p0") == "error kyverno_error"
    assert found.outcome("raises/validate", "fine") == "pass"
    assert "gave 12 answers; 6 of them were asked of the Kyverno CLI too, and 0 differed" in said(found)


def test_what_the_child_can_not_do_exactly_is_left_to_the_cli_by_name(judge: Judge, batch: Path) -> None:
    context = "  context: [{name: c, configMap: {name: c, namespace: shop}}]\n  validate:"
    reads = policy("reads", NO_LATEST.replace("  validate:", context))
    seen = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\ndata: {}\n"
    found = judge(reads + LATEST, pods(3), seen=seen, options=options())
    assert found.outcome("reads/no-latest", "p1") == "fail"
    assert "reads is left to the Kyverno CLI: it reads other objects" in said(found)
    assert "tags is left" not in said(found)


def test_exceptions_accept_the_same_failures(judge: Judge, batch: Path) -> None:
    text = (
        LATEST
        + validating("cel")
        + """
---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: old, namespace: shop}
spec:
  exceptions: [{policyName: tags, ruleNames: [no-latest]}]
  match: {any: [{resources: {kinds: [Pod], names: [p1]}}]}
---
apiVersion: policies.kyverno.io/v1beta1
kind: PolicyException
metadata: {name: new, namespace: shop}
spec:
  policyRefs: [{name: cel, kind: ValidatingPolicy}]
  matchConditions: [{name: one, expression: "object.metadata.name == 'p2'"}]
"""
    )
    ours = judge(text, pods(4), options=options())
    assert ours.gaps == []
    assert ours.of("tags/no-latest", "p1").accepted_by == "shop/old"
    assert ours.of("tags/no-latest", "p2").accepted_by == ""
    assert ours.of("cel/validate", "p2").accepted_by == "shop/new"
    assert ours.answers == judge(text, pods(4), options=KyvernoOptions(jobs=1)).answers


def test_without_the_cli_nothing_is_compared_and_that_is_said(
    judge: Judge,
    batch: Path,
    without_cli: None,
) -> None:
    context = "  context: [{name: c, configMap: {name: c, namespace: shop}}]\n  validate:"
    reads = policy("reads", NO_LATEST.replace("  validate:", context))
    wrong = validating("wrong", "object.spec..")
    found = judge(ALL + reads + wrong, pods(6), options=options(every=1))
    for rule in RULES:
        assert [found.outcome(rule, f"p{n}") for n in range(6)] == ["pass", "fail", "fail"] * 2
    assert "18 answers of the batch child of Kyverno 1.19.1 were not compared" in said(found)
    reasons = sorted(found.gaps)
    assert len(reasons) == 2
    assert "ClusterPolicy reads: it reads other objects, which needs the Kyverno CLI" in reasons[0]
    assert "ValidatingPolicy wrong" in reasons[1]
    assert found.engine is not None
    assert found.engine.version().details["reference"] == "none"


def test_a_policy_that_hangs_costs_its_pairs_and_no_other(
    judge: Judge, batch: Path, without_cli: None
) -> None:
    loop = """
- name: loop
  match: {any: [{resources: {kinds: [Pod], names: [p*]}}]}
  preconditions: {all: [{key: "{{ request.object.metadata.name }}", operator: AnyIn, value: [p1, p2, p4, p5, p7, p8]}]}
  validate:
    message: never
    foreach:
    - list: "range(`0`, `3000`)"
      foreach:
      - list: "range(`0`, `3000`)"
        deny: {conditions: {any: [{key: "{{ element }}", operator: Equals, value: x}]}}
"""
    hangs = policy("hangs", loop.replace("range(`0`, `3000`)", "request.object.spec.numbers"))
    many = "[" + ", ".join(str(n) for n in range(2000)) + "]"
    texts = pods(9).replace("spec:\n", f"spec:\n  numbers: {many}\n")
    found = judge(hangs + LATEST, texts, options=options(pair_seconds=0.3))
    slow = [found.outcome("hangs/loop", f"p{n}") for n in (1, 2, 4, 5, 7, 8)]
    assert set(slow) == {"error timed_out", "error given_up"}
    assert "the batch child of Kyverno gave no answer" in found.of("hangs/loop", "p1").message
    for number in range(9):
        assert found.outcome("tags/no-latest", f"p{number}") == ("fail" if number % 3 else "pass")


def test_an_object_that_ends_the_child_costs_one_error(
    judge: Judge, child_stand_in: Callable[[str], None]
) -> None:
    child_stand_in("""if kind == "B" and b'"p4"' in payload: die(9)""")
    found = judge(LATEST + policy("calm", NO_LATEST), pods(8), options=options())
    for rule in ("tags/no-latest", "calm/no-latest"):
        assert found.outcome(rule, "p4") == "error killed"
        assert [found.outcome(rule, f"p{n}") for n in (0, 1, 3, 7)] == ["pass", "fail", "pass", "fail"]
    assert (
        "the batch child of Kyverno gave no answer: exit code 9" in found.of("tags/no-latest", "p4").message
    )


def test_a_policy_that_ends_the_child_is_left_to_the_cli(
    judge: Judge, child_stand_in: Callable[[str], None]
) -> None:
    child_stand_in("""if kind == "L" and b'bomb' in payload: die(9)""")
    found = judge(policy("bomb", NO_LATEST) + LATEST, pods(3), options=options())
    assert found.outcome("bomb/no-latest", "p1") == "fail"
    assert "bomb is left to the Kyverno CLI: the batch child can't load it: it ended the engine" in said(
        found
    )
    assert "tags is left" not in said(found)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("""if kind == "B": os.write(1, b"all is well" * 100); time.sleep(1)""", "claims"),
        ("""if kind == "B": die(0)""", "exit code 0"),
        ("""if kind == "B": payload = payload.replace(b"known-bad", b"known-odd")""", ""),
        ("""if kind == "L": payload = payload.replace(b'value\\\\":\\\\"looked', b'value\\\\":\\\\"nobody')""", "known to be bad"),
    ],
    ids=["garbage", "gone", "harmless", "canary passes"],
)  # fmt: skip
def test_a_child_that_can_not_be_trusted(
    judge: Judge, child_stand_in: Callable[[str], None], body: str, reason: str
) -> None:
    child_stand_in(body)
    found = judge(LATEST, pods(3), options=options())
    outcomes = {found.of("tags/no-latest", f"p{n}").outcome.value for n in range(3)}
    if reason:
        assert outcomes == {"error"}
        assert reason in found.of("tags/no-latest", "p0").message
    else:
        assert outcomes == {"pass", "fail"}


def test_a_child_without_memory_is_a_gap(judge: Judge, batch: Path, without_cli: None) -> None:
    found = judge(LATEST, pods(3), options=options(memory_bytes=32 << 20))
    assert found.answers == [[], [], []]
    assert any("memory" in gap for gap in found.gaps)


def test_only_the_same_version_is_compared(judge: Judge, batch: Path, stand_in: Stand) -> None:
    path = Path(stand_in("give(real())"))
    text = path.read_text()
    path.write_text(
        text.replace(
            "judging =", "if arguments == ['version']:\n    print('Version: v1.18.2'); sys.exit(0)\njudging ="
        )
    )
    auto = KyvernoOptions(cli=str(path), batch="auto", jobs=1)
    found = judge(LATEST, pods(2), options=auto)
    assert found.outcome("tags/no-latest", "p1") == "fail"
    messages = [notice.message for notice in found.build.notices]
    assert any(
        "holds Kyverno 1.19.1, the Kyverno CLI is 1.18.2: they can't be compared" in m for m in messages
    )
    required = judge(LATEST, pods(2), options=options(cli=str(path)))
    assert "they can't be compared" in required.gaps[0]


def test_a_child_that_is_not_installed(judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(OVERRIDE, str(tmp_path / "nowhere"))
    found = judge(LATEST, pods(2), options=KyvernoOptions(batch="auto", jobs=1))
    assert found.outcome("tags/no-latest", "p1") == "fail"
    assert found.engine is not None
    assert found.engine.version().details["interface"] == "command line"
    required = judge(LATEST, pods(2), options=options())
    assert "1 Kyverno rules were not asked: the batch child of Kyverno is not at" in required.gaps[0]
