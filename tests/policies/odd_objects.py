"""Objects with fields left out, null, empty or unusual: what rules of two languages most easily see differently."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

MISSING = object()
Make = Callable[[random.Random], Any]


def objects(seed: int, number: int) -> list[dict[str, Any]]:
    """`number` objects, the same ones for the same seed."""
    source = random.Random(seed)
    makers = (
        *[_pod] * 6,
        _deployment,
        _deployment,
        _cron_job,
        _service,
        _ingress,
        _role,
        _binding,
        _namespace,
    )
    return [source.choice(makers)(source, f"odd-{index}") for index in range(number)]


def _one(*choices: Any) -> Make:
    return lambda source: source.choice(choices)


def _some(most: int, make: Make, *, least: int = 0) -> Make:
    return lambda source: [make(source) for _ in range(source.randint(least, most))]


def _maybe(make: Make) -> Make:
    """Mostly there, else missing, null or empty."""
    return lambda source: make(source) if source.random() < 0.7 else source.choice([MISSING, MISSING, None])


def _mapping(**fields: Make) -> Make:
    def make(source: random.Random) -> dict[str, Any]:
        made = {name.replace("__", "-"): field(source) for name, field in fields.items()}
        return {name: value for name, value in made.items() if value is not MISSING}

    return make


SWITCH = _one(MISSING, MISSING, None, True, False)
SECURITY = _mapping(
    privileged=SWITCH,
    allowPrivilegeEscalation=SWITCH,
    readOnlyRootFilesystem=SWITCH,
    runAsNonRoot=SWITCH,
    runAsUser=_one(MISSING, MISSING, None, 0, 1000),
    procMount=_one(MISSING, MISSING, None, "", "Default", "Unmasked"),
    capabilities=_maybe(
        _mapping(
            add=_maybe(_some(2, _one("NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN"))),
            drop=_maybe(_some(2, _one("ALL", "NET_RAW"))),
        )
    ),
    seccompProfile=_maybe(_mapping(type=_one(MISSING, None, "RuntimeDefault", "Localhost", "Unconfined"))),
    seLinuxOptions=_maybe(
        _mapping(type=_one(MISSING, None, "", "container_t", "spc_t"), user=_one(MISSING, "", "u"))
    ),
    appArmorProfile=_maybe(_mapping(type=_one(MISSING, None, "RuntimeDefault", "Unconfined"))),
    windowsOptions=_maybe(_mapping(hostProcess=SWITCH)),
)
POD_SECURITY = _mapping(
    runAsNonRoot=SWITCH,
    runAsUser=_one(MISSING, MISSING, None, 0, 1000),
    seccompProfile=_maybe(_mapping(type=_one(MISSING, None, "RuntimeDefault", "Unconfined"))),
    seLinuxOptions=_maybe(_mapping(role=_one(MISSING, None, "", "r"))),
    appArmorProfile=_maybe(_mapping(type=_one(MISSING, None, "Localhost", "Unconfined"))),
    sysctls=_maybe(
        _some(2, _mapping(name=_one("net.ipv4.tcp_syncookies", "kernel.msgmax"), value=_one("1")))
    ),
    windowsOptions=_maybe(_mapping(hostProcess=SWITCH)),
)
QUANTITIES = _mapping(
    cpu=_one(MISSING, None, "", "500m", 2, "0", 0.5),
    memory=_one(MISSING, None, "", "1Gi", "0", 1073741824),
    **{"nvidia.com/gpu": _one(MISSING, MISSING, 1, "1", 2)},
)
RESOURCES = _maybe(_mapping(requests=_maybe(QUANTITIES), limits=_maybe(QUANTITIES)))
PROBE = _maybe(
    _mapping(
        httpGet=_one(MISSING, None, {"port": 8000}, {"port": 80, "host": "10.0.0.1"}),
        tcpSocket=_one(MISSING, MISSING, {"port": "http"}),
        exec=_one(MISSING, None, {"command": ["check"]}, {"command": ["true"]}, {"command": []}),
    )
)
IMAGE = _one(
    MISSING,
    None,
    "",
    "nginx",
    "nginx:latest",
    "nginx:1.27",
    "registry.example.com:5000/a/b:v2",
    f"registry.example.com/a@sha256:{'0f' * 32}",
    f"a:main@sha256:{'0f' * 32}",
    "a:main",
    "a:v2-latest",
    "${IMAGE}",
    "UPPER/case:1",
)
CONTAINER = _mapping(
    name=_one("main", "main", "second", MISSING),
    image=IMAGE,
    imagePullPolicy=_one(MISSING, MISSING, None, "", "Always", "IfNotPresent", "Never"),
    securityContext=_maybe(SECURITY),
    resources=RESOURCES,
    livenessProbe=PROBE,
    readinessProbe=PROBE,
    ports=_maybe(_some(2, _mapping(containerPort=_one(80, 8000), hostPort=_one(MISSING, None, 0, 80)))),
    env=_maybe(
        _some(
            2,
            _one(
                {"name": "MODE", "value": "chat"},
                {"name": "MODE", "valueFrom": None},
                {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            ),
        )
    ),
    envFrom=_maybe(
        _some(1, _one({"secretRef": {"name": "s"}}, {"configMapRef": {"name": "c"}}, {"secretRef": None}))
    ),
)
VOLUME = _one(
    {"name": "v"},
    {"name": "v", "emptyDir": {}},
    {"name": "v", "hostPath": {"path": "/x"}},
    {"name": "v", "hostPath": None, "emptyDir": {}},
    {"name": "v", "nfs": {"server": "s", "path": "/"}},
    {"name": "v", "image": {"reference": "models/a:latest"}},
)
POD = _mapping(
    containers=_some(2, CONTAINER, least=1),
    initContainers=_one(
        MISSING, None, [], [{"name": "init", "image": "a:1"}], [{"name": "s", "restartPolicy": "Always"}]
    ),
    ephemeralContainers=_one(MISSING, MISSING, None, [{"name": "debug", "image": "busybox"}]),
    securityContext=_maybe(POD_SECURITY),
    hostNetwork=SWITCH,
    hostPID=SWITCH,
    hostIPC=SWITCH,
    hostUsers=_one(MISSING, MISSING, MISSING, None, True, False),
    os=_one(MISSING, MISSING, MISSING, None, {"name": "linux"}, {"name": "windows"}),
    restartPolicy=_one(MISSING, MISSING, None, "Always", "Never"),
    runtimeClassName=_one(MISSING, None, "", "nvidia", "runc"),
    serviceAccountName=_one(MISSING, None, "", "default", "own"),
    automountServiceAccountToken=SWITCH,
    volumes=_maybe(_some(2, VOLUME)),
)
ANNOTATIONS = _one(
    MISSING,
    MISSING,
    None,
    {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"},
    {"container.apparmor.security.beta.kubernetes.io/main": ""},
    {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
)
LIST = _one(
    MISSING,
    None,
    [],
    ["*"],
    ["", "apps"],
    ["get"],
    ["secrets", "pods/exec"],
    ["roles"],
    ["bind", "impersonate"],
)
LABELS = _one(
    MISSING,
    None,
    {},
    {"owner": "team", "ai-risk-tier": "high", "pod-security.kubernetes.io/enforce": "baseline"},
    {"owner": "", "ai-risk-tier": "own", "pod-security.kubernetes.io/enforce": "privileged"},
)
TLS = _one(
    MISSING, None, [], [{"hosts": ["a.example.com"]}], [{"hosts": ["*.example.com"]}], [{"secretName": "s"}]
)
HTTP = {
    "paths": [
        {
            "path": "/",
            "pathType": "Prefix",
            "backend": {"service": {"name": "ray-head-svc", "port": {"number": 80}}},
        }
    ]
}


def _whole(
    api: str, kind: str, name: str, source: random.Random, namespaced: bool = True, **fields: Make
) -> dict[str, Any]:
    metadata = _mapping(annotations=ANNOTATIONS, labels=LABELS)(source)
    place = {"namespace": "shop"} if namespaced else {}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, **place, **metadata},
        **_mapping(**fields)(source),
    }


def _pod(source: random.Random, name: str) -> dict[str, Any]:
    return _whole("v1", "Pod", name, source, spec=POD)


def _template(source: random.Random) -> dict[str, Any]:
    return _mapping(metadata=_mapping(annotations=ANNOTATIONS), spec=POD)(source)


def _deployment(source: random.Random, name: str) -> dict[str, Any]:
    return _whole("apps/v1", "Deployment", name, source, spec=_mapping(template=_template))


def _cron_job(source: random.Random, name: str) -> dict[str, Any]:
    job = _mapping(spec=_mapping(template=_template))
    return _whole("batch/v1", "CronJob", name, source, spec=_mapping(jobTemplate=job))


def _service(source: random.Random, name: str) -> dict[str, Any]:
    return _whole(
        "v1",
        "Service",
        name,
        source,
        spec=_mapping(
            type=_one(MISSING, None, "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
            externalIPs=_one(MISSING, None, [], ["198.51.100.7"]),
            loadBalancerSourceRanges=_one(MISSING, None, [], ["10.0.0.0/8"], ["0.0.0.0/0"], ["nonsense"]),
            selector=_one(MISSING, None, {"ray.io/node-type": "head"}, {"app": "a"}),
        ),
    )


def _ingress(source: random.Random, name: str) -> dict[str, Any]:
    return _whole(
        "networking.k8s.io/v1",
        "Ingress",
        name,
        source,
        spec=_mapping(
            rules=_one(
                MISSING,
                None,
                [],
                [{"host": "a.example.com", "http": HTTP}],
                [{"http": HTTP}],
                [{"host": "*.example.com"}],
            ),
            defaultBackend=_one(MISSING, MISSING, None, {"service": {"name": "a"}}),
            tls=TLS,
        ),
    )


def _role(source: random.Random, name: str) -> dict[str, Any]:
    rule = _mapping(
        apiGroups=LIST, resources=LIST, verbs=LIST, resourceNames=_one(MISSING, None, [], ["admin"], [""])
    )
    kind = source.choice(["Role", "ClusterRole"])
    return _whole(
        "rbac.authorization.k8s.io/v1", kind, name, source, kind == "Role", rules=_maybe(_some(3, rule))
    )


def _binding(source: random.Random, name: str) -> dict[str, Any]:
    subject = _mapping(
        kind=_one("User", "Group", "ServiceAccount"),
        name=_one(
            "default",
            "alice",
            "system:authenticated",
            "system:serviceaccount:kube-system:a",
            "system:serviceaccounts:shop",
        ),
        namespace=_one(MISSING, None, "kube-system", "shop"),
    )
    kind = source.choice(["RoleBinding", "ClusterRoleBinding"])
    return _whole(
        "rbac.authorization.k8s.io/v1",
        kind,
        name,
        source,
        kind == "RoleBinding",
        roleRef=_mapping(kind=_one("ClusterRole", "Role"), name=_one("cluster-admin", "view")),
        subjects=_maybe(_some(2, subject)),
    )


def _namespace(source: random.Random, name: str) -> dict[str, Any]:
    return _whole("v1", "Namespace", name, source, False)
