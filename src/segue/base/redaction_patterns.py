"""What the redactor looks for. RE2 syntax: ASCII word boundaries, no look-around.

Where a pattern must exclude what its regular expression cannot (a placeholder, a code identifier), `accepts`
decides over the match. Group 1, where there is one, is the part that is reported and replaced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of finding; `hidden` ones are never echoed, not even cut.

    `credential` says, of the extended set, that it lets somebody in: not a path, a host or a port.
    """

    label: str
    regex: str
    accepts: Callable[[Any, str], bool] | None = None
    hidden: bool = False
    credential: bool = False


CORE = (
    Pattern("abs-path", r"\B/(?:Users|home|opt|var|etc|root)/[A-Za-z0-9._/\-]+"),
    Pattern("abs-path", r"\b[A-Za-z]:[/\\](?:[A-Za-z0-9 _.\-]+[/\\]?)+"),
    Pattern("aws-key", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Pattern("gh-token", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    Pattern("jwt", r"eyJ[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+"),
    Pattern("private-key", r"-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----", hidden=True),
    Pattern("google-api-key", r"\bAIza[A-Za-z0-9_\-]{35}\b"),
    Pattern("slack-token", r"\bxox[baprs]-[A-Za-z0-9\-]{10,}\b"),
    Pattern("stripe-key", r"\b(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9]{32,})\b"),
    Pattern("ssh-public-key", r"\bssh-(?:rsa|ed25519|dss|ecdsa)\s+AAAA[A-Za-z0-9+/]{20,}"),
)

_PLACEHOLDER = re.compile(r"^(?:<.*|\$.*|\{.*|%.*|\*+|x{3,}|\.{2,}|…|your.*|example.*|\[redacted.*)$", re.IGNORECASE)
_LOCAL_ADDRESS = (
    r"(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}"
    r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2})"
)
_LOCAL_SUFFIX = r"(?:local|internal|lan|localdomain|intranet|localhost|home\.arpa)"
# What may stand before an absolute path: not a word (a URL or relative path goes on), a dot, or a glob.
_PATH_START = r"(?:^|[^\w.~/\-*}>\]%])"


def _is_value(text: str) -> bool:
    inner = text.strip("\"'`")
    return bool(inner) and not _PLACEHOLDER.match(inner)


def _looks_random(text: str) -> bool:
    has_digit = any(char.isdigit() for char in text)
    return has_digit and any(char.isalpha() for char in text)


def _model_key(match: Any, _: str) -> bool:
    value = match.group(2)
    return _looks_random(value) or (value != value.lower() and value != value.upper())


def _arn(match: Any, _: str) -> bool:
    return bool(match.group(2)) or "example" not in match.group()


# `Bearer Authentication` and `bearer tokenProvider` are prose and code.
_WORDS = re.compile(r"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*[.]?")


def _bearer(match: Any, _: str) -> bool:
    value = match.group(2)
    mixed = value != value.lower() and value != value.upper() and not _WORDS.fullmatch(value)
    return _is_value(value) and (_looks_random(value) or mixed or len(value) >= 20)


def _password(match: Any, _: str) -> bool:
    return _is_value(match.group(2))


def _port_number(match: Any, text: str) -> bool:
    end = match.end(2)
    follows = text[end : end + 2]
    if follows[:1] in ("%", "-", "x") or (follows[:1] in (".", ",", ":") and follows[1:].isdigit()):
        return False
    return match.group(2) in _LOW_PORTS or 100 <= int(match.group(2)) <= 65_535


# Two digits are mostly a count ("we port 19 modules"), unless the number is a service everybody knows.
_LOW_PORTS = frozenset("20 21 22 23 25 53 69 80 88".split())


def _local_host(match: Any, text: str) -> bool:
    end = match.end(1)
    follows = text[end : end + 2]
    if follows[:1] in ("(", "_", "-", "=", "[") or re.match(r"\.\w", follows):
        return False
    labels = match.group(1).lower().split(".")
    return not _CODE_NAMES.intersection(labels[:-1])


# `threading.local`, `.env.local`, `self.internal` are code and file names, not hosts.
_CODE_NAMES = frozenset(
    "threading self this cls module env settings config gevent asyncio contextvars torch docker-compose compose "
    "application appsettings package github bashrc zshrc profile tsconfig options".split()
)


def _env_value(match: Any, _: str) -> bool:
    return _is_value(match.group(2))


def _env_secret(match: Any, _: str) -> bool:
    name, _, value = match.group(1).partition("=")
    value = value.strip("\"'`")
    return bool(_SECRET_NAME.search(name)) and len(value) >= 8 and not value.isdigit() and _is_secret(value)


def _is_secret(value: str) -> bool:
    return _is_value(value) and value[0] not in "/~." and "://" not in value


_SECRET_NAME = re.compile(
    r"_(?:SECRET|TOKEN|PASSWORD|PASSWD|PWD|PASS|PASSPHRASE|APIKEY|(?:API|ACCESS|SECRET|PRIVATE|SIGNING|ENCRYPTION)_KEY)$"
)


def _pem(match: Any, _: str) -> bool:
    return not re.fullmatch(CORE[5].regex, match.group())


def _unc(match: Any, _: str) -> bool:
    return len(match.group(2)) > 1 and len(match.group(3)) > 1


_ASSIGNED = (
    r"(?:^|[^\w$.\-])((?:export\s+|set\s+|setx\s+|env\s+)?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+="
    r"(\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[\"'`]?[^\s\"'`=,;)]+))"
)
_EXPORTED = (
    r"(\b(?:export|setx?|env)\s+[A-Z][A-Z0-9_]+="
    r"(\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|[\"'`]?[^\s\"'`=,;)]+))"
)

EXTENDED = (
    Pattern("github-pat", r"\bgithub_pat_[A-Za-z0-9_]{20,}", credential=True),
    Pattern("npm-token", r"\bnpm_[A-Za-z0-9]{36,}", credential=True),
    Pattern(
        "model-key",
        r"(\bsk-((?:[A-Za-z0-9_]{1,24}-){0,6}[A-Za-z0-9_]{20,}[A-Za-z0-9_\-]*))",
        _model_key,
        credential=True,
    ),
    Pattern(
        "vendor-token",
        r"\b(?:hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|glpat-[\w\-]{20,}|pypi-AgE[\w\-]{50,}|dop_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})",
        credential=True,
    ),
    Pattern("aws-arn", r"(\barn:aws[a-z\-]*:[a-z0-9\-]+:[a-z0-9\-]*:(\d{12})?:[A-Za-z0-9_\-/:.*+=,@]+)", _arn),
    Pattern(
        "aws-secret",
        r"(?i)(\b(?:aws[_\-. ]?)?secret[_\-. ]?(?:access[_\-. ]?)?key(?:\s+id)?[\"'`]?"
        r"\s*(?::|=>|=|\bis\b|\s)\s*[\"'`]?[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+_]|$)",
        credential=True,
    ),
    Pattern(
        "auth-header",
        r"(?i)((?:authorization[\"'`]?\s*[:=,]\s*[\"'`]?(?:bearer|basic|token|digest)|\bbearer)\s+[\"'`]?([A-Za-z0-9._~+/\-]{8,}=*))",
        _bearer,
        credential=True,
    ),
    Pattern(
        "url-credentials",
        r"(?i)(\b[a-z][a-z0-9+.\-]*://[^\s/:@\"'<>]*:([^\s/@\"'<>]+)@)[^\s/]",
        _password,
        credential=True,
    ),
    Pattern(
        "connection-string",
        r"(?i)(\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|valkey|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb|nats|kafka|ldaps?|smtps?)(?:\+[a-z0-9_]+)?://[^\s/:@\"'<>]*:([^\s/@\"'<>]+)@[^\s\"'`<>)]*)",
        _password,
        credential=True,
    ),
    Pattern(
        "connection-string",
        r"(?i)(\b(?:server|data source|host|hostname|addr|address|user id|uid|user|username|database|dbname"
        r"|initial catalog|accountname|endpoint|defaultendpointsprotocol)\s?=[^;\n]+;(?:[^\n]*;)?"
        r"\s*(?:password|pwd|accountkey|sharedaccesskey)\s?=\s?([^;\s\"'`]+))",
        _password,
        credential=True,
    ),
    Pattern("connection-string", r"(?i)(\bhost=\S+\s(?:[^\n]*\s)?password=([^\s\"'`]+))", _password, credential=True),
    Pattern("pem-header", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----", _pem, hidden=True, credential=True),
    Pattern(
        "ssh-public-key",
        r"\b(?:ecdsa-sha2-nistp\d{3}|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com)\s+AAAA[A-Za-z0-9+/]{20,}",
    ),
    Pattern(
        "path", _PATH_START + r"(/(?:tmp|srv|mnt|private|media|Volumes|run/user)/[A-Za-z0-9._\-][A-Za-z0-9._/\-]*)"
    ),
    Pattern("path", r"(?:^|[^\w~/.\-])(~/[A-Za-z0-9._\-][A-Za-z0-9._/\-]*)"),
    Pattern("unc-path", r"(?:^|[^\\\w])(\\\\([A-Za-z0-9_.\-]+)\\([A-Za-z0-9_.$\-]+)(?:\\[A-Za-z0-9_.$\- ]+)*)", _unc),
    Pattern("file-url", r"(?i)\bfile://[^\s\"'<>)`]+"),
    Pattern(
        "local-url",
        r"(?i)\b(?:https?|wss?|tcp|grpc|ftp)://(?:[^\s/@]*@)?(?:"
        + _LOCAL_ADDRESS
        + r"|[a-z0-9](?:[a-z0-9.\-]*\.)?"
        + _LOCAL_SUFFIX
        + r"|[a-z0-9\-]+:\d{2,5}|[a-z0-9.\-]+\."
        + _LOCAL_SUFFIX
        + r")(?:[:/?#][^\s\"'<>)`]*|\b|$)",
    ),
    Pattern(
        "port",
        r"(?i)((?:\bports?(?:\s+number|\s+no\.?)?(?:\s*[:=]\s*|\s+(?:is\s+|to\s+)?)|\bpuerto\s+|--port[= ]"
        r"|端口(?:号)?\s*[:：]?\s*|ポート\s*)(\d{2,5}))\b",
        _port_number,
    ),
    Pattern(
        "port",
        r"(?i)((?:\b" + _LOCAL_ADDRESS[3:-1].replace("|\\[::1?\\]", "") + r"|\[::1?\]):(\d{2,5}))\b",
        _port_number,
    ),
    Pattern("port", r"(?:^|[\s(`\"'])(:(\d{4,5}))\b", _port_number),
    Pattern("port", r"(?:^|\s)(-p\s+\d{2,5}:\d{2,5})\b"),
    Pattern(
        "local-host",
        r"(?i)(?:^|[^\w.\-$])([a-z0-9](?:[a-z0-9\-]*\.)+(?:local|internal|lan|localdomain))\b",
        _local_host,
    ),
    Pattern("env-var", _ASSIGNED, _env_value),
    Pattern("env-var", _EXPORTED, _env_value),
    Pattern("env-var", _ASSIGNED, _env_secret, credential=True),
    Pattern("env-var", _EXPORTED, _env_secret, credential=True),
    Pattern("env-var", r"(?i)(\$env:[a-z_][a-z0-9_]*\s*=\s*(\"[^\"\n]*\"|'[^'\n]*'|[\"'`]?[^\s\"'`]+))", _env_value),
)
