"""Secrets are taken out wherever people put them, and what only sounds like one stays, so that rules still see it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.native.reading import objects, read

CANARY = "CANARY7secret9"
B64 = base64.b64encode(f"user:{CANARY}".encode()).decode()


def raw(group_kind: str, **fields: Any) -> str:
    """The redacted bytes of one object."""
    group, _, kind = group_kind.rpartition("/")
    api_version = f"{group}/v1" if group else "v1"
    text = json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": "n"}} | fields)
    [event] = objects(read(text))
    return event.raw.decode()


def hides(text: str) -> bool:
    return not any(needle in text for needle in (CANARY, B64)) and "fleetaudit:redacted:" in text


VARIABLES = [
    "PASSWORD",
    "PASS",
    "DB_PASS",
    "SMTP_PASS",
    "SMTP_PASS_1",
    "PASSWORD2",
    "PGPASSWORD",
    "MYSQL_PWD",
    "MYSQLPASSWORD",
    "OPENAI_KEY",
    "ANTHROPIC_KEY",
    "AZURE_KEY",
    "MY_APIKEY",
    "MYAPIKEY",
    "API_KEYS",
    "VLLM_API_KEY",
    "REDIS_AUTH",
    "BASIC_AUTH",
    "FLOWER_BASIC_AUTH",
    "HF_TOKEN",
    "HFTOKEN",
    "API_TOKENS",
    "AWS_SECRET_ACCESS_KEY",
    "SECRET_KEY",
    "JWT_SECRET",
    "RABBITMQ_ERLANG_COOKIE",
    "GF_SECURITY_ADMIN_PASSWORD",
    "KEYSTORE_PASSPHRASE",
    "REDIS_REQUIREPASS",
    "MINIO_CREDS",
    "SERVICE_CREDENTIALS",
    "DOCKERCONFIGJSON",
    "db.password",
    "dbPassword",
    "spring.datasource.password",
]


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_named_like_secrets(name: str) -> None:
    env = [{"name": name, "value": CANARY}]
    assert hides(raw("Pod", spec={"containers": [{"name": "c", "env": env}]}))
    assert hides(raw("example.com/Widget", spec={"env": {name: CANARY}}))
    assert hides(raw("example.com/Widget", spec={"env": [f"{name}={CANARY}"]}))
    assert hides(raw("ConfigMap", data={name: CANARY}))
    assert hides(raw("ConfigMap", data={"app.env": f"A=b\n{name}={CANARY}\n"}))
    assert hides(raw("ConfigMap", data={"app.yaml": f"a:\n  {name}: {CANARY}\n"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A", f"postgres://user:{CANARY}@db/x"),
        ("SENTRY_DSN", f"https://{CANARY}@sentry.example.test/1"),
        ("A", f"user:{CANARY}@tcp(db:3306)/x"),
        ("A", f"Server=db;User Id=sa;Password={CANARY};"),
        ("A", f"AccountName=x;AccountKey={CANARY};"),
        ("JAVA_OPTS", f"-Xmx1g -Djavax.net.ssl.keyStorePassword={CANARY}"),
        ("A", json.dumps({"db": {"password": CANARY}})),
        ("A", f"{{'password': '{CANARY}'}}"),
        ("A", base64.b64encode(json.dumps({"password": CANARY}).encode()).decode()),
        ("REDIS_URL", f"redis://:{CANARY}@redis:6379/0"),
        ("A", f"Authorization: Bearer {CANARY}"),
        ("SOME_KEY", "1f2e3d4c5b6a79881f2e3d4c5b6a7988" + CANARY),
        ("NEO4J_AUTH", f"neo4j/{CANARY}"),
        ("PROXY_AUTH", f"user:{CANARY}"),
    ],
)
def test_variables_whose_value_tells(name: str, value: str) -> None:
    assert hides(raw("Pod", spec={"containers": [{"name": "c", "env": [{"name": name, "value": value}]}]}))


WORDS: list[list[str]] = [
    ["app", "--db-pass", CANARY],
    ["app", f"--password={CANARY}"],
    ["app", f"--db-pass={CANARY}"],
    ["app", "--secret-key", CANARY],
    ["app", f"--secret-key={CANARY}"],
    ["app", f"--auth=user:{CANARY}"],
    ["app", "--auth", f"user:{CANARY}"],
    ["helm", f"--set=db.password={CANARY}"],
    ["helm", "--set", f"a=b,db.password={CANARY}"],
    ["docker", "run", "-e", f"DB_PASS={CANARY}"],
    ["curl", "-u", f"u:{CANARY}", "https://x.example.test"],
    ["curl", f"-uu:{CANARY}"],
    ["curl", "--user", f"u:{CANARY}"],
    ["curl", f"--user=u:{CANARY}"],
    ["curl", "-H", f"X-Api-Key: {CANARY}"],
    ["mysql", "-uroot", f"-p{CANARY}"],
    ["/usr/bin/mysqldump", f"-p{CANARY}", "db"],
    ["mongosh", "-u", "u", "-p", CANARY],
    ["redis-cli", "-a", CANARY, "ping"],
    ["redis-server", "--requirepass", CANARY],
    ["sshpass", "-p", CANARY, "ssh", "h"],
    ["docker", "login", "-u", "u", "-p", CANARY],
    ["skopeo", "copy", "--src-creds", f"u:{CANARY}"],
    ["ldapsearch", "-D", "cn=x", "-w", CANARY],
    ["keytool", "-storepass", CANARY],
    ["openssl", "rsa", "-passin", f"pass:{CANARY}"],
    ["rabbitmqctl", "add_user", "u", CANARY],
    ["htpasswd", "-nbB", "u", CANARY],
    ["app", json.dumps({"apiKey": CANARY})],
    ["app", f"{{password: {CANARY}, a: b}}"],
    ["git", "clone", f"https://u:{CANARY}@git.example.test/x"],
    ["kubectl", "create", "secret", "generic", "x", f"--from-literal=anything={CANARY}"],
    ["aws", "configure", "set", "aws_secret_access_key", CANARY],
    ["redis-cli", "config", "set", "requirepass", CANARY],
    ["vault", "kv", "put", "secret/x", f"anything={CANARY}"],
    ["sqlplus", f"scott/{CANARY}@db"],
    ["mc", "alias", "set", "m", "http://m:9000", "user", CANARY],
    ["spark-submit", "--conf", f"spark.hadoop.fs.s3a.secret.key={CANARY}"],
]


@pytest.mark.parametrize("words", WORDS)
def test_arguments(words: list[str]) -> None:
    container = {"name": "c", "image": "i"}
    script = " ".join(words)
    for given in (
        {"command": words},
        {"command": words[:1], "args": words[1:]},
        {"args": words},
        {"command": ["sh", "-c", script]},
        {"args": [f"set -e\necho start && {script}\necho done"]},
        {"lifecycle": {"postStart": {"exec": {"command": words}}}},
    ):
        text = raw("Pod", spec={"containers": [container | given]})
        assert hides(text), given
        assert words[0] in text
    assert hides(raw("tekton.dev/Task", spec={"steps": [{"image": "i", "script": f"#!/bin/sh\n{script}\n"}]}))


FILES = {
    "ini": f"[db]\nsecret_key = {CANARY}\n",
    "properties": f"spring.datasource.password={CANARY}",
    "yaml": f"db:\n  password: {CANARY}\n",
    "yaml block": f"db:\n  password: |\n    {CANARY}\n  user: x\n",
    "yaml folded": f"password: >-\n  {CANARY}\n",
    "quoted": f"password: '{CANARY} with words'\n",
    "passphrase": f"passphrase = correct horse {CANARY}\n",
    "with signs": f"password=a$b({CANARY}\n",
    "json": json.dumps({"a": [{"apiKey": CANARY}]}, indent=1),
    "json in json": json.dumps({"inner": json.dumps({"token": CANARY})}),
    "xml": f"<server><username>u</username>\n<password>{CANARY}</password></server>",
    "xml attribute": f'<user name="x" password="{CANARY}"/>',
    "netrc": f"machine example.test login u password {CANARY}\n",
    "netrc lines": f"machine example.test\n  login u\n  password {CANARY}\n",
    "pgpass": f"db.example.test:5432:app:user:{CANARY}\n",
    "docker": json.dumps({"auths": {"r.example.test": {"auth": B64}}}),
    "docker password": json.dumps({"auths": {"r.example.test": {"username": "u", "password": CANARY}}}),
    "npmrc": f"//registry.example.test/:_authToken={CANARY}\n",
    "redis.conf": f"port 6379\nrequirepass {CANARY}\n",
    "redis.conf auth": f"masterauth {CANARY}\n",
    "my.cnf": f"[client]\nuser=root\npassword={CANARY}\n",
    "aws": f"[default]\naws_access_key_id = x\naws_secret_access_key = {CANARY}\n",
    "toml": f'[a]\ntoken = "{CANARY}"\n',
    "shell": f"#!/bin/sh\nexport PGPASSWORD='{CANARY}'\n",
    "script": f"mysql -uroot -p{CANARY} db\n",
    "git-credentials": f"https://u:{CANARY}@git.example.test\n",
    "manifest": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\nstringData:\n  anything: {CANARY}\n",
    "env in manifest": f"env:\n- name: DB_PASS\n  value: {CANARY}\n",
    "crlf": f"a=b\r\npassword={CANARY}\r\n",
    "xml property": f'<property name="hibernate.connection.password">{CANARY}</property>',
    "hadoop": f"<property><name>fs.s3a.secret.key</name><value>{CANARY}</value></property>",
    "jaas": f'PlainLoginModule required username="a" password="{CANARY}";\n',
    "python": f"DATABASES = {{'default': {{'PASSWORD': '{CANARY}'}}}}\nSECRET_KEY = '{CANARY}'\n",
    "java": f'private static final String PASSWORD = "{CANARY}";\n',
    "php": f"define('DB_PASSWORD', '{CANARY}');\n$db['password'] = '{CANARY}';\n",
    "ruby": f":password => '{CANARY}', :secret_key_base => \"{CANARY}\"\n",
    "erlang": f'[{{rabbit, [{{default_pass, <<"{CANARY}">>}}]}}].\n',
    "terraform": f'variable "db_password" {{\n  default = "{CANARY}"\n}}\n',
    "sql": f"CREATE USER x WITH PASSWORD '{CANARY}';\n",
    "sql identified": f"CREATE USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '{CANARY}';\n",
    "redis acl": f"user default on >{CANARY} ~* +@all\n",
    "cloud-init": f"#cloud-config\nchpasswd:\n  list: |\n    root:{CANARY}\n",
    "env as json": json.dumps([{"name": "DB_PASS", "value": CANARY}]),
    "env in json in json": json.dumps({"spec": json.dumps({"env": [{"name": "DB_PASS", "value": CANARY}]})}),
    "env in flow style": f"env: [{{name: DB_PASS, value: {CANARY}}}]\n",
    "value before name": f"env:\n- value: {CANARY}\n  name: DB_PASS\n",
    "oracle": f"jdbc:oracle:thin:scott/{CANARY}@//h:1521/x\n",
    "yaml list": f"api_keys:\n  - {CANARY}\n  - {CANARY}\nother: x\n",
    "yaml list, flat": f"tokens: 5\napi_keys:\n- {CANARY}\n",
    "json list": json.dumps({"apiKeys": [CANARY, CANARY]}),
    "yaml anchor": f"password: &pw {CANARY}\n",
    "yaml tag": f"password: !!str {CANARY}\n",
    "stdin": f"echo {CANARY} | docker login -u u --password-stdin\n",
    "haproxy": f"  user admin insecure-password {CANARY}\n",
    "nginx": f"  proxy_set_header X-Api-Key {CANARY};\n",
    "nslcd": f"bindpw {CANARY}\n",
    "headers": json.dumps({"headers": {"Authorization": f"Basic {B64}"}}),
    "quoted netrc": f'echo "machine h login u password {CANARY}" > ~/.netrc\n',
    "htpasswd": "u:$apr1$abcdefgh$" + (CANARY + "0" * 22)[:22],
}


@pytest.mark.parametrize("name", FILES)
def test_files_in_config_maps_and_in_texts_of_other_kinds(name: str) -> None:
    text = FILES[name]
    encoded = base64.b64encode(text.encode()).decode()
    assert hides(raw("ConfigMap", data={"file": text}))
    binary = raw("ConfigMap", binaryData={"file": encoded})
    assert encoded not in binary
    assert hides(raw("argoproj.io/Application", spec={"source": {"helm": {"values": text}}}))
    assert hides(raw("example.com/Widget", metadata={"name": "n", "annotations": {"a": text}}))
    inner = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"file": text}}
    assert hides(raw("example.com/Wrapper", spec={"resources": [inner]}))


OBJECTS: list[tuple[str, dict[str, Any]]] = [
    ("bitnami.com/SealedSecret", {"spec": {"template": {"data": {"x": CANARY}}}}),
    ("bitnami.com/SealedSecret", {"spec": {"template": {"stringData": {"x": CANARY}}}}),
    ("external-secrets.io/ExternalSecret", {"spec": {"target": {"template": {"data": {"x": CANARY}}}}}),
    (
        "external-secrets.io/ExternalSecret",
        {"spec": {"target": {"template": {"templateFrom": [{"literal": CANARY}]}}}},
    ),
    (
        "external-secrets.io/ClusterExternalSecret",
        {"spec": {"externalSecretSpec": {"target": {"template": {"data": {"x": CANARY}}}}}},
    ),
    ("isindir.github.com/SopsSecret", {"spec": {"secretTemplates": [{"stringData": {"x": CANARY}}]}}),
    ("example.com/Wrapper", {"spec": {"manifests": [{"kind": "Secret", "data": {"x": CANARY}}]}}),
    ("example.com/Wrapper", {"spec": {"anything": {"stringData": {"x": CANARY}}}}),
    ("Secret", {"stringdata": {"x": CANARY}}),
    ("Secret", {"Data": CANARY}),
    ("Secret", {"data": [CANARY]}),
    (
        "argoproj.io/Application",
        {"spec": {"source": {"helm": {"valuesObject": {"db": {"password": CANARY}}}}}},
    ),
    (
        "argoproj.io/Application",
        {"spec": {"source": {"helm": {"parameters": [{"name": "db.password", "value": CANARY}]}}}},
    ),
    (
        "argoproj.io/Application",
        {"spec": {"source": {"repoURL": f"https://u:{CANARY}@git.example.test/x"}}},
    ),
    ("PersistentVolume", {"spec": {"csi": {"volumeAttributes": {"password": CANARY}}}}),
    (
        "PersistentVolume",
        {"spec": {"csi": {"volumeAttributes": {"mountOptions": f"user=u,password={CANARY}"}}}},
    ),
    ("PersistentVolume", {"spec": {"mountOptions": [f"password={CANARY}"]}}),
    ("storage.k8s.io/StorageClass", {"parameters": {"adminPassword": CANARY}}),
    ("Pod", {"metadata": {"name": "n", "annotations": {"note": f"password={CANARY}"}}}),
    (
        "Pod",
        {"metadata": {"name": "n", "annotations": {"note": f"see https://u:{CANARY}@x.example.test"}}},
    ),
    ("Pod", {"spec": {"containers": [{"image": f"https://user:{CANARY}@r.example.test/a:1"}]}}),
    ("Pod", {"spec": {"containers": [{"image": f"user:{CANARY}@r.example.test/a:1"}]}}),
    ("Pod", {"spec": {"containers": [{"image": f"https://user:a/b{CANARY}@r.example.test/a:1"}]}}),
    ("Pod", {"spec": {"containers": [{"image": f"https://user:p@{CANARY}@r.example.test/a"}]}}),
    ("example.com/Widget", {"spec": {"password": {"value": CANARY}}}),
    ("example.com/Widget", {"spec": {"parameters": [{"key": "password", "value": CANARY}]}}),
    ("example.com/Widget", {"spec": {"params": [{"name": "token", "default": CANARY}]}}),
    ("example.com/Widget", {"spec": {"clientSecret": "canary7secret9".upper()}}),
    ("example.com/Widget", {"spec": {"apiKeys": [CANARY]}}),
    ("example.com/Widget", {"spec": {"headers": {"Authorization": f"Bearer {CANARY}"}}}),
    ("example.com/Widget", {"spec": {"headers": {"Cookie": f"session={CANARY}"}}}),
    ("ConfigMap", {"data": {"userlist.txt": f'"user" "{CANARY}"\n'}}),
    ("example.com/Widget", {"spec": {"params": [{"name": "password", "values": [CANARY]}]}}),
    ("ConfigMap", {"data": {"tokens.csv": f"{CANARY},user,1\n{CANARY},other,2\n"}}),
    ("ConfigMap", {"data": {".htpasswd": f"user:{CANARY}\nother:{CANARY}\n"}}),
    ("ConfigMap", {"data": {"app.conf": f"password: {CANARY.upper()} horse battery\n"}}),
    ("example.com/Widget", {"spec": {"secret": CANARY.lower()}}),
    ("grafana.example.test/Datasource", {"spec": {"datasource": {"secureJsonData": {"x": CANARY}}}}),
    (
        "example.com/Widget",
        {"spec": {"url": f"https://hooks.slack.com/services/T0AB/B0CD/{CANARY}abcdef"}},
    ),
    ("example.com/Widget", {"spec": {"key": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{CANARY}"}}),
    (
        "networking.istio.io/EnvoyFilter",
        {"spec": {"inline": f"local token = '{CANARY}'\ntoken = '{CANARY}'"}},
    ),
]


@pytest.mark.parametrize(("kind", "fields"), OBJECTS)
def test_other_objects(kind: str, fields: Any) -> None:
    text = raw(kind, **fields)
    assert CANARY.lower() not in text.lower()
    assert "fleetaudit:redacted:" in text


def test_numbers_are_secrets_too() -> None:
    text = raw("example.com/Widget", spec={"password": 123456789, "args": ["--password", 123456789]})
    assert "123456789" not in text
    assert "123456789" not in raw("ConfigMap", data={"password": 123456789})


INNOCENT_VARIABLES = {
    "PASSTHROUGH": "all",
    "PASS_THROUGH": "headers",
    "NUM_PASS": "3",
    "COMPASS_URL": "https://compass.example.test",
    "BYPASS": "cache",
    "SSL_KEY_PATH": "tls.key",
    "API_KEY_FILE": "key.txt",
    "API_KEY_HEADER": "X-Api-Key",
    "TOKENIZER_PATH": "meta-llama/Llama-3.1-8B",
    "TOKENIZER": "hf-internal-testing/llama-tokenizer",
    "MAX_TOKENS": "4096",
    "EOS_TOKEN": "im_end",
    "PAD_TOKEN": "[PAD]",
    "TIME_PER_OUTPUT_TOKEN": "25ms",
    "TAINT_KEY": "nvidia.com/gpu",
    "PARTITION_KEY": "user_id",
    "PUBLIC_KEY": "ssh-ed25519-of-somebody",
    "AUTH": "basic",
    "REDIS_AUTH": "disabled",
    "BASIC_AUTH": "true",
    "PROXY_AUTH": "kerberos",
    "OAUTH_URL": "https://login.example.test/oauth2",
    "IMAGE_PULL_SECRET": "regcred",
    "DB_PASSWORD": "$(FROM_SECRET)",
    "DB_PASS": "/etc/secrets/db",
    "HF_TOKEN": "${HF_TOKEN}",
    "PASSWORD": "{{ .Values.password }}",
    "SECRETS_BACKEND": "vault",
    "PYTHONPATH": "/app:/lib",
    "IMAGE": "registry.example.test:5000/a/b:1.2@sha256:" + "0e9e39f2" * 8,
    "MODEL": "name:1.2@sha256:" + "0e9e39f2" * 8,
    "CONTACT": "mailto:ml@example.test",
    "GCP_ACCOUNT": "serviceAccount:ml@project.iam.gserviceaccount.com",
    "NPM": "npm:left-pad@1.3.0",
    "ENDPOINT": "http://host.example.test:8080/a@b",
    "IPV6": "http://[::1]:8080/a@b",
    "KEYBOARD": "us",
    "MONKEY": "capuchin",
    "AUTHOR": "somebody",
    "OLDPWD": "somewhere",
    "LABELS": "app=web,tier=front",
    "NCCL_SOCKET_IFNAME": "=eth0",
}


@pytest.mark.parametrize("name", INNOCENT_VARIABLES)
def test_variables_that_only_sound_like_secrets(name: str) -> None:
    value = INNOCENT_VARIABLES[name]
    env = [{"name": name, "value": value}]
    assert "redacted" not in raw("Pod", spec={"containers": [{"name": "c", "env": env}]})
    assert "redacted" not in raw("ConfigMap", data={name: value})
    assert "redacted" not in raw("ConfigMap", data={"app.env": f"{name}={value}\n"})


@pytest.mark.parametrize(
    "words",
    [
        ["vllm", "serve", "m", "--max-model-len", "8192", "--max-num-batched-tokens", "8192"],
        [
            "vllm",
            "--tokenizer",
            "meta-llama/Llama-3.1-8B",
            "--tokenizer-mode=auto",
            "--tokenizer-pool-size=4",
        ],
        ["app", "--eos-token", "im_end", "--goodput-time-per-output-token=25"],
        ["app", "--token-auth-file=/etc/t", "--private-key=/etc/tls/tls.key", "--tls-key", "/certs/tls.key"],
        ["app", "--password-file", "/run/p", "--secret-name=web", "--auth=basic", "--pass-through", "all"],
        ["app", "--hf-token=$(HF_TOKEN)", "--api-key", "$(API_KEY)"],
        ["app", "--password", "--port", "80"],
        ["app", "--api-key", "-v"],
        ["kubectl", "config", "set", "current-context", "main"],
        ["mysql", "-p", "-P3306", "-uroot"],
        ["docker", "run", "-p", "8080:80"],
        ["ssh", "-p", "2222", "host"],
        ["curl", "-u", "$(USER):$(PASSWORD)", "https://x.example.test"],
        ["curl", "-U", "agent", "-w", "code"],
        ["python", "-u", "main.py:app", "-a", "x"],
        ["uvicorn", "main:app", "--host", "0.0.0.0", "--port", "80"],
        ["app", "--selector=app.kubernetes.io/name=web", "--set=image.tag=1"],
        ["sh", "-c", "TOKEN=$(cat /var/run/token) exec app --token=${TOKEN}"],
        ["python", "-c", "token = get_token()\npassword = os.environ['P']\n"],
    ],
)
def test_arguments_that_hold_no_secret(words: list[str]) -> None:
    assert "redacted" not in raw("Pod", spec={"containers": [{"name": "c", "image": "i", "args": words}]})
    assert "redacted" not in raw("Pod", spec={"containers": [{"name": "c", "command": words}]})
    assert "redacted" not in raw("Pod", spec={"containers": [{"args": ["sh", "-c", " ".join(words)]}]})


@pytest.mark.parametrize(
    "text",
    [
        "password_file: /etc/p\ntokenizer: llama\nmax_tokens: 5\n",
        "secretName: web-tls\nsecretKey: password\nimagePullSecret: regcred\n",
        "def f(token: str = None) -> None:\n    token = self.get_token()\n    secret = os.environ['S']\n",
        "# password: the password of the user\nThe token must be kept.\nPassword required\n",
        "auth: {type: basic}\nkey: value\n",
        "password: ${DB_PASSWORD}\ntoken: {{ .Values.token }}\n",
        "<p>the password</p><key>name</key>",
        "server:\n  host: 10.0.0.1:5432\n  when: 12:30:15\n",
        "kind: SecretStore\nmetadata: {name: x}\n",
        "password:\n  minLength: 8\n  pattern: '[a-z]+'\ntoken:\n  - name: a\n",
        "token = a + b\nsecret = data if x else y\n",
        'fields = ["password", "username"]\nlabels: {"name": "token", "value": ""}\n',
        '<label for="password">Your password</label><name>key</name><value>1</value>\n',
        "cat user > file\nuser list >out\n",
        "authorization: rbac\nauthorizer: simple\nauthorization-mode: Node,RBAC\n",
    ],
)
def test_files_that_hold_no_secret(text: str) -> None:
    assert "redacted" not in raw("ConfigMap", data={"file": text})
    assert "redacted" not in raw("example.com/Widget", metadata={"name": "n", "annotations": {"a": text}})


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("Pod", {"spec": {"volumes": [{"name": "s", "secret": {"secretName": "db-password"}}]}}),
        (
            "Pod",
            {
                "spec": {
                    "containers": [
                        {
                            "env": [
                                {"name": "P", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}}
                            ]
                        }
                    ]
                }
            },
        ),
        (
            "Pod",
            {
                "spec": {
                    "containers": [{"envFrom": [{"secretRef": {"name": "api-token"}}]}],
                    "imagePullSecrets": [{"name": "regcred"}],
                }
            },
        ),
        ("Ingress", {"spec": {"tls": [{"secretName": "web-tls", "hosts": ["a.example.test"]}]}}),
        (
            "ServiceAccount",
            {"secrets": [{"name": "default-token-x7k2p"}], "automountServiceAccountToken": False},
        ),
        (
            "external-secrets.io/ExternalSecret",
            {"spec": {"data": [{"secretKey": "password", "remoteRef": {"key": "kv/db"}}]}},
        ),
        (
            "secrets-store.csi.x-k8s.io/SecretProviderClass",
            {"spec": {"parameters": {"roleName": "db", "vaultAddress": "https://v:8200"}}},
        ),
        (
            "keda.sh/TriggerAuthentication",
            {"spec": {"secretTargetRef": [{"parameter": "password", "name": "s", "key": "p"}]}},
        ),
        ("traefik.io/Middleware", {"spec": {"basicAuth": {"secret": "auth-users"}}}),
        (
            "example.com/Widget",
            {"spec": {"passwordSecretRef": {"name": "x", "key": "password"}, "credentials": "aws-creds"}},
        ),
        ("example.com/Widget", {"spec": {"tokenExpirationSeconds": 3600, "maxTokens": 4096, "passed": True}}),
        (
            "apiextensions.k8s.io/CustomResourceDefinition",
            {
                "spec": {
                    "versions": [
                        {
                            "schema": {
                                "openAPIV3Schema": {
                                    "properties": {
                                        "password": {"type": "string", "default": "x"},
                                        "stringData": {"type": "object"},
                                    }
                                }
                            }
                        }
                    ]
                }
            },
        ),
        ("networking.k8s.io/NetworkPolicy", {"spec": {"podSelector": {"matchLabels": {"auth": "token"}}}}),
        (
            "apps/Deployment",
            {
                "spec": {
                    "selector": {"matchExpressions": [{"key": "token", "operator": "In", "values": ["a"]}]}
                }
            },
        ),
    ],
)
def test_references_to_secrets_stay(kind: str, fields: Any) -> None:
    assert "redacted" not in raw(kind, **fields)


def test_a_marker_is_not_redacted_again() -> None:
    once = raw("Pod", spec={"containers": [{"args": ["curl", "-u", f"u:{CANARY}", f"--password={CANARY}"]}]})
    [event] = objects(read(once))
    assert event.raw.decode() == once
    assert event.redactions == ()
