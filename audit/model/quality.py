"""What a run says of the policies themselves: what each was good for, and what none of them covers."""

from __future__ import annotations

import msgspec

from audit.model.control import EvidenceKind


class RuleUse(msgspec.Struct, frozen=True, kw_only=True):
    """What came of having one rule in this run."""

    rule: str
    due: int
    """Pairs that were due."""
    applied: int
    """Of them, how many it gave a verdict on: pass, fail or warn. A skip says that it does not apply, an error says nothing."""
    vacuous: bool
    """Asked, and nothing was there that it applies to. Its silence is no evidence."""
    controls: int
    """Controls that it is mapped to, itself or through its twin."""


class UnservedControl(msgspec.Struct, frozen=True, kw_only=True):
    """A control that no loaded rule is mapped to."""

    framework: str
    control: str
    evidence_kind: EvidenceKind
    """Attestation: nothing but a statement is meant to decide it."""
    in_profile: bool


class PolicyQuality(msgspec.Struct, frozen=True, kw_only=True):
    """All rules and all controls, looked at for what they lack."""

    rules: tuple[RuleUse, ...]
    """Every loaded rule, in the order of `AssessmentResult.rules`."""
    unserved: tuple[UnservedControl, ...]
    """In catalog order."""

    @property
    def vacuous(self) -> tuple[str, ...]:
        """Rules that applied to nothing."""
        return tuple(use.rule for use in self.rules if use.vacuous)

    @property
    def unused(self) -> tuple[str, ...]:
        """Rules that no control uses."""
        return tuple(use.rule for use in self.rules if not use.controls)
