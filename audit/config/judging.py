"""What ``fleetaudit.yaml`` may say of how objects are judged: policies, rules, engines."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from audit.config.fields import PathText, Section, Text
from audit.model.foreign import Shape
from audit.model.rule import Severity


class PolicySourceConfig(Section, frozen=True, kw_only=True):
    """One source of policies, with what is not to be found out from the policies themselves."""

    path: Annotated[
        PathText,
        Meta(
            description="File, folder, git+https://HOST/REPOSITORY@COMMIT#FOLDER with a whole commit hash, or builtin:kyverno."
        ),
    ]
    name: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")] | None,
        Meta(description="Beginning of the rule ids; the last part of the path by default."),
    ] = None
    shape: Annotated[
        Shape | None, Meta(description="What the policies expect to be given; found out when it is not said.")
    ] = None
    namespaces: Annotated[
        tuple[Text, ...],
        Meta(description="Rego packages that are asked; all that decide something by default."),
    ] = ()
    rules: Annotated[
        tuple[Text, ...], Meta(description="Names of the rules that are asked, instead of the shape's own.")
    ] = ()
    data: Annotated[
        tuple[PathText, ...],
        Meta(description="YAML and JSON files or folders that the policies read below data."),
    ] = ()
    libraries: Annotated[
        tuple[PathText, ...], Meta(description="Rego files or folders that the policies import.")
    ] = ()
    kinds: Annotated[
        tuple[Text, ...],
        Meta(
            description="Kinds the policies are asked about, such as Pod or apps/Deployment; every kind by default."
        ),
    ] = ()
    combine: Annotated[
        bool, Meta(description="The policies look at all objects of a cluster at once (conftest --combine).")
    ] = False
    allow: Annotated[
        Literal["permits", "flags"] | None,
        Meta(
            description="What a true allow means: permission, or a violation; found out when it is not said."
        ),
    ] = None
    severity: Annotated[
        Severity | None, Meta(description="Severity of rules that state none; else medium.")
    ] = None


class PolicyConfig(Section, frozen=True, kw_only=True):
    """Policies of your own, besides the built-in rules."""

    paths: Annotated[
        tuple[PathText, ...],
        Meta(
            description="Files, folders, pinned git addresses or builtin:kyverno; how each is read is found out."
        ),
    ] = ()
    sources: Annotated[
        tuple[PolicySourceConfig, ...], Meta(description="The same, where more has to be said.")
    ] = ()
    require_signed: Annotated[
        Literal["refuse", "mark"] | None,
        Meta(
            description="Files from outside the package that decide what is judged (policies, their data and libraries, "
            "mappings, twins, components, pod templates) need an allowed signature: refuse stops the run, mark goes on and marks the rules."
        ),
    ] = None
    signers: Annotated[
        PathText | None,
        Meta(
            description="File that says who may sign them, in the form of signatures; that one by default. Relative to this file."
        ),
    ] = None
    allow_builtins: Annotated[
        tuple[Text, ...],
        Meta(
            description="OPA builtins that are off by default (network, environment) and that your rules need."
        ),
    ] = ()


class RulesConfig(Section, frozen=True, kw_only=True):
    """Which rules are asked. A deselected rule leaves its controls undecided."""

    select: Annotated[
        tuple[Text, ...], Meta(description="Rule ids or globs such as rbac/*; empty means all.")
    ] = ()
    skip: Annotated[tuple[Text, ...], Meta(description="Rule ids or globs left out.")] = ()


class OpaServerConfig(Section, frozen=True, kw_only=True):
    """The OPA server that rego: opa-server asks. Without a url, a local one is started for the run."""

    url: Annotated[
        Annotated[str, Meta(pattern=r"^https?://[^\s@?#]+$(?!\n)", max_length=2000)] | None,
        Meta(description="Address of a running server; rules are put there for the run and removed again."),
    ] = None
    token_env: Annotated[
        Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$(?!\n)")] | None,
        Meta(description="Name of the environment variable that holds the bearer token for url."),
    ] = None
    ca: Annotated[
        PathText | None,
        Meta(
            description="PEM file of the authorities that may sign the server's certificate; relative to this file."
        ),
    ] = None
    insecure: Annotated[
        bool,
        Meta(description="Do not check certificates, and send the token unencrypted if url is http."),
    ] = False
    bundle: Annotated[
        bool,
        Meta(description="The server has the rules from a bundle: nothing is put there, it is only asked."),
    ] = False
    binary: Annotated[
        PathText | None,
        Meta(description="The opa that is started without a url; the one on PATH by default."),
    ] = None
    timeout_seconds: Annotated[
        float, Meta(gt=0, le=3600, description="Time for one request about many objects.")
    ] = 30.0


class KyvernoConfig(Section, frozen=True, kw_only=True):
    """The Kyverno CLI, and what its policies are told about the request that they judge."""

    binary: Annotated[
        PathText | None,
        Meta(description="The CLI; kyverno or kubectl-kyverno on PATH by default."),
    ] = None
    batch: Annotated[
        Literal["auto", "off", "required"],
        Meta(
            description="The batch child over Kyverno's own engine, with the CLI as its reference: where the extra "
            "kyverno-batch is installed, never, or always."
        ),
    ] = "auto"
    values: Annotated[
        PathText | None,
        Meta(
            description="Values of the cli.kyverno.io group: variables, labels of namespaces, the operation."
        ),
    ] = None
    user_info: Annotated[
        PathText | None, Meta(description="UserInfo of the same group: who makes the request.")
    ] = None
    context: Annotated[
        PathText | None,
        Meta(description="Context of the same group: objects and image data for policies in CEL."),
    ] = None


class EngineConfig(Section, frozen=True, kw_only=True):
    """What decides the built-in Rego rules and your own of the same form."""

    rego: Annotated[
        Literal["embedded", "opa-server"],
        Meta(description="The OPA inside fleetaudit, or a real OPA server; findings are equal."),
    ] = "embedded"
    opa: OpaServerConfig = OpaServerConfig()
    kyverno: KyvernoConfig = KyvernoConfig()
