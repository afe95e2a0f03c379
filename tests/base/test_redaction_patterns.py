"""What the redactor takes for a secret or a local path: each pattern at its edges, samples built at run time."""

from __future__ import annotations

import pytest

from segue.base import redaction

from .samples import ALNUM, AWS, BASE64, BEGIN, GITHUB, GOOGLE, HOOK, JWT, KEY, SLACK, STRIPE, UPPER, run


def core(text: str) -> list[str]:
    return [finding.label for finding in redaction.scan_text(text, core_only=True)]


def kinds(text: str) -> list[str]:
    return [finding.kind for finding in redaction.scan_text(text, path="goal")]


# -- the ten core patterns (section 000.2 of the facts, P4) --------------------------------------------------------


@pytest.mark.requirement("packets-28", "packets-38", "packets-59")
@pytest.mark.parametrize("text", [f"/{root}/x" for root in ("Users", "home", "opt", "var", "etc", "root")])
@pytest.mark.parametrize("before", ["", " ", "(", "=", "://", "host:", "-", ".", "/", "é", "日志在", "\n", "`"])
def test_posix_paths(text: str, before: str) -> None:
    assert core(before + text) == ["abs-path"]


@pytest.mark.requirement("packets-28", "packets-38", "packets-59")
@pytest.mark.parametrize(
    "text",
    [
        "/Users/alice/secret",
        "/home/bob/.env",
        "/etc/passwd",
        "/opt/app/data/store",
        "/home//",
        "/var/-",
        "/root/_",
        "/etc/.x",
    ],
)
def test_posix_paths_of_the_reference(text: str) -> None:
    assert core(text) == ["abs-path"]


@pytest.mark.requirement("packets-38", "packets-59")
@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/home/bob/x",
        "a/home/x",
        "_/etc/x",
        "9/opt/x",
        "/home/",
        "/home",
        "/home/ x",
        "/home/é",
        "/homes/x",
        "/users/x",
        "/HOME/x",
        "/usr/lib/x",
        "/tmp/x",
        "/srv/x",
        "/mnt/x",
        "/private/x",
        "~/x",
        "./src/foo.go",
        "../lib/util.go",
        "v1.2.3",
        "https://example.com",
        "see issue #42",
        "commit abc1234",
    ],
)
def test_no_posix_paths(text: str) -> None:
    assert core(text) == []


@pytest.mark.requirement("packets-28", "packets-38", "packets-59")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        (r"C:\Users\x\f", True),
        (r"c:\temp\x\y", True),
        ("C:/Users/x", True),
        ("D:/repo/src/main.go", True),
        ("x:/y", True),
        (r"z:\a b\c", True),
        (r"(C:\x", True),
        (r"-C:\x", True),
        (r"éC:\x", True),
        ("https://c:/foo", True),
        (r"C:\-", True),
        ("project-C:later", False),
        (r"CC:\x", False),
        (r"_C:\x", False),
        (r"9C:\x", False),
        (r"1:\x", False),
        ("C:\\", False),
        ("C:\\\\x", False),
        ("C:/é", False),
        ("C:x", False),
        (r"é:\x", False),
        (r"\\host\share", False),
    ],
)
def test_windows_paths(text: str, hit: bool) -> None:
    assert set(core(text)) == ({"abs-path"} if hit else set())


@pytest.mark.requirement("packets-31", "packets-38", "packets-60")
@pytest.mark.parametrize("prefix", "AKIA ASIA AGPA AIDA AROA AIPA ANPA ANVA ABIA ACCA".split())
def test_aws_keys_have_sixteen_characters_after_each_prefix(prefix: str) -> None:
    assert core(f"key {prefix + run(UPPER, 16)}.") == ["aws-key"]
    assert core(prefix + run(UPPER, 15)) == []
    assert core(prefix + run(UPPER, 17)) == []


@pytest.mark.requirement("packets-38", "packets-60")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("-" + AWS + run(UPPER, 16) + "-", True),
        ("é" + AWS + run(UPPER, 16) + "é", True),
        ("x" + AWS + run(UPPER, 16), False),
        ("_" + AWS + run(UPPER, 16), False),
        (AWS + run(UPPER, 16) + "_", False),
        (AWS + run(UPPER, 16) + "x", False),
        (AWS + run(UPPER, 15) + "x", False),
        (AWS + run(UPPER, 15) + "é", False),
        (AWS.lower() + run(UPPER, 16), False),
        ("ABIB" + run(UPPER, 16), False),
    ],
)
def test_aws_keys_are_word_bounded(text: str, hit: bool) -> None:
    assert core(text) == ["aws-key"] * hit


@pytest.mark.requirement("packets-31", "packets-38", "packets-61")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        *((f"gh{kind}_" + run(ALNUM, 36), True) for kind in "pousr"),
        *((f"gh{kind}_" + run(ALNUM, 35), False) for kind in "pousr"),
        (GITHUB + run(ALNUM, 40), True),
        ("x" + GITHUB + run(ALNUM, 36) + "_", True),
        ("gha_" + run(ALNUM, 36), False),
        (GITHUB.upper() + run(ALNUM, 36), False),
        (GITHUB + run(ALNUM, 35) + "-" + run(ALNUM, 35), False),
        (GITHUB + run(ALNUM, 35) + "é", False),
        ("github_pat_" + run(ALNUM, 60), False),
    ],
)
def test_github_tokens(text: str, hit: bool) -> None:
    assert core(text) == ["gh-token"] * hit


@pytest.mark.requirement("packets-31", "packets-38", "packets-62")
@pytest.mark.parametrize(
    ("rest", "hit"),
    [
        ("a.b.c", True),
        ("hbGci.ey_z-.c2ln", True),
        (".b.c", False),
        ("a..c", False),
        ("a.b.", False),
        ("a.b", False),
        ("a b.c.d", False),
        ("a.é.c", False),
    ],
)
def test_json_web_tokens(rest: str, hit: bool) -> None:
    assert core(JWT + rest) == ["jwt"] * hit
    assert core("x" + JWT + rest + "!") == ["jwt"] * hit
    assert core(JWT.lower() + rest) == []


@pytest.mark.requirement("packets-31", "packets-38", "packets-45", "packets-63")
@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH "])
def test_private_keys_are_found_and_masked(kind: str) -> None:
    (finding,) = redaction.scan_text(f"x {BEGIN}{kind}{KEY} y", core_only=True)
    assert finding.label == "private-key"
    assert finding.found == "-----BEGIN …"


@pytest.mark.requirement("packets-38", "packets-63")
@pytest.mark.parametrize(
    "text",
    [
        BEGIN + "DSA " + KEY,
        BEGIN + "ENCRYPTED " + KEY,
        BEGIN + "PUBLIC KEY-----",
        BEGIN + "CERTIFICATE-----",
        BEGIN[1:] + KEY,
        BEGIN + KEY[:-1],
        BEGIN + "RSA  " + KEY,
        (BEGIN + KEY).lower(),
    ],
)
def test_no_private_keys(text: str) -> None:
    assert core(text) == []


@pytest.mark.requirement("packets-31", "packets-38", "packets-66")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        (GOOGLE + run("aB3_-", 33) + "xy", True),
        (GOOGLE + run(ALNUM, 34), False),
        (GOOGLE + run(ALNUM, 36), False),
        (GOOGLE + run(ALNUM, 34) + "-", False),
        (GOOGLE + run(ALNUM, 35) + "-", True),
        (GOOGLE + run(ALNUM, 35) + "é", True),
        ("x" + GOOGLE + run(ALNUM, 35), False),
        ("=" + GOOGLE + run(ALNUM, 35), True),
        (GOOGLE.lower() + run(ALNUM, 35), False),
    ],
)
def test_google_keys(text: str, hit: bool) -> None:
    assert core(text) == ["google-api-key"] * hit


@pytest.mark.requirement("packets-31", "packets-38", "packets-65")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        *((f"xox{kind}-" + run("aB-3d", 10), True) for kind in "baprs"),
        (SLACK + run(ALNUM, 9), False),
        (SLACK + run(ALNUM, 9) + "-", False),
        (SLACK + run(ALNUM, 10) + "-", True),
        (SLACK + run(ALNUM, 10) + "_", False),
        ("xox" + "c-" + run(ALNUM, 10), False),
        ("x" + SLACK + run(ALNUM, 10), False),
        ("(" + SLACK + run(ALNUM, 40) + ")", True),
    ],
)
def test_slack_tokens(text: str, hit: bool) -> None:
    assert core(text) == ["slack-token"] * hit


@pytest.mark.requirement("packets-31", "packets-38", "packets-64")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        *((f"{kind}_{mode}_" + run(ALNUM, 20), True) for kind in ("sk", "rk") for mode in ("live", "test")),
        *((f"{kind}_{mode}_" + run(ALNUM, 19), False) for kind in ("sk", "rk") for mode in ("live", "test")),
        (STRIPE + run(ALNUM, 60), True),
        (STRIPE + run(ALNUM, 20) + "_", False),
        ("x" + STRIPE + run(ALNUM, 20), False),
        ("pk_" + "live_" + run(ALNUM, 24), False),
        ("sk_" + "prod_" + run(ALNUM, 24), False),
        (HOOK + run(ALNUM, 32), True),
        (HOOK + run(ALNUM, 31), False),
        ("_" + HOOK + run(ALNUM, 32), False),
    ],
)
def test_stripe_keys(text: str, hit: bool) -> None:
    assert core(text) == ["stripe-key"] * hit


@pytest.mark.requirement("packets-31", "packets-38", "packets-67")
@pytest.mark.parametrize(
    ("text", "hit"),
    [
        *((f"ssh-{kind} AAAA" + run(BASE64, 20), True) for kind in ("rsa", "ed25519", "dss", "ecdsa")),
        ("ssh-rsa\tAAAA" + run(BASE64, 20), True),
        ("ssh-rsa \n AAAA" + run(BASE64, 20), True),
        ("ssh-rsa AAAA" + run(BASE64, 19), False),
        ("ssh-rsaAAAA" + run(BASE64, 20), False),
        ("ssh-rsa AAAa" + run(BASE64, 20), False),
        ("ssh-foo AAAA" + run(BASE64, 20), False),
        ("xssh-rsa AAAA" + run(BASE64, 20), False),
        ("_ssh-rsa AAAA" + run(BASE64, 20), False),
        ("-ssh-rsa AAAA" + run(BASE64, 20), True),
        ("ecdsa-sha2-nistp256 AAAA" + run(BASE64, 40), False),
    ],
)
def test_ssh_public_keys(text: str, hit: bool) -> None:
    assert core(text) == ["ssh-public-key"] * hit


def test_ascii_word_boundaries() -> None:
    assert core("ａ/home/x") == ["abs-path"]
    assert core("ＡKIA" + run(UPPER, 16)) == []


# -- the extended set (P6) ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("github_" + "pat_" + run(ALNUM, 60), "github-pat"),
        ("np" + "m_" + run(ALNUM, 36), "npm-token"),
        ("s" + "k-proj-" + run(ALNUM, 40), "model-key"),
        ("s" + "k-ant-api03-" + run(ALNUM, 40), "model-key"),
        ("arn:aws:iam::" + "1" * 12 + ":role/deploy", "aws-arn"),
        ("aws_secret_access_key = " + run("aB3/+", 40), "aws-secret"),
        ("Authorization: Bearer " + run(ALNUM, 24), "auth-header"),
        ("Authorization: Basic " + run(ALNUM, 20) + "==", "auth-header"),
        ("https://mira:" + "hunter22@example.org/x", "url-credentials"),
        ("postgresql://app:" + "hunter22@db.example.org/prod", "connection-string"),
        ("Server=db;Database=x;Password=" + "hunter22", "connection-string"),
        (BEGIN + "ENCRYPTED " + KEY, "pem-header"),
        (BEGIN + "PGP " + "PRIVATE " + "KEY BLOCK-----", "pem-header"),
        ("ecdsa-sha2-nistp256 AAAA" + run(BASE64, 40), "ssh-public-key"),
        ("dump in /tmp/run-7/out.json", "path"),
        ("data in /srv/app", "path"),
        ("disk at /mnt/backup", "path"),
        ("see /private/x", "path"),
        ("edit ~/.config/tool.toml", "path"),
        (r"on \\server\share\x", "unc-path"),
        ("file:///a/b", "file-url"),
        ("open http://localhost:8080/admin", "local-url"),
        ("open https://127.0.0.1/x", "local-url"),
        ("listens on port 8080", "port"),
        ("bind 127.0.0.1:5432", "port"),
        ("ssh build.local first", "local-host"),
        ("host db.internal is down", "local-host"),
        ("set API_TOKEN=hunter22 first", "env-var"),
        ("export REGION=eu-1", "env-var"),
    ],
)
@pytest.mark.requirement("packets-29", "packets-30", "packets-31")
def test_extended_kinds(text: str, label: str) -> None:
    assert f"goal/ext/{label}" in kinds(text)
    assert core(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The risk-assessment-2026-final-version-of-the-team is out.",
        "task-runner-with-a-very-long-name-and-more",
        "commit " + "4f2a9c1d8e" * 4,
        "sha256:" + "ab" * 32,
        "01JZ7Q4M8N2V6W0X3Y5A9B1C4D and 550e8400-e29b-41d4-a716-446655440000",
        "https://example.org/home/page and https://example.org/tmp/x",
        "The task/home split is done.",
        "Latency fell from 120/80 to 60/40 ms.",
        "Authorization: Bearer <token>",
        "postgresql://user:<password>@example.org/db",
        "set API_TOKEN=<your token> first",
        "Use key=value pairs in the header.",
        "approximately ~5 of them, a~/b",
        "Wake at 12:30:45, ratio 3:4000 holds.",
        "A port of the parser to Rust; we ported 19 modules.",
        "threading.local() and self.internal_state",
        r"the regex \d+\w+ matches",
        "Reset the password flow before Friday.",
    ],
)
def test_ordinary_text_is_clean(text: str) -> None:
    assert kinds(text) == []
