"""Secrets of the app: values of its variables that its text must not give away where it is kept or shown.

The names of variables and the forms of values say what is a secret. Whoever reads an app's variables has them
learned here; whoever takes text of the app, its server or its logs in has it masked before it is cut or quoted.
One process knows the secrets of all apps that it has met.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_plus, urlsplit

_MASK = "***"
_SHORTEST = 6
"""Letters of a secret: shorter ones are parts of ordinary words, and no secrets."""

_SECRET_NAME = re.compile(
    r"SECRET|TOKEN|PASSW|PASSPHRASE|PASSCODE|CREDENTIAL|WEBHOOK|BEARER|CONN(ECTION)?_?STR|KEYS?\d*(?![A-Z])"
    r"|(PASS|PWD|AUTH|SALT|JWT|DSN|SAS|CREDS?)\d*(?![A-Z])|(?<![A-Z])(PW|PIN)(?![A-Z])"
)
_FOLDERS = ("PWD", "OLDPWD")
_SETTING_NAME = re.compile(
    r"_(FILE|PATH|DIR|FOLDER|SOCK|SOCKET|HOST|PORT|USER|USERNAME|NAME|TTL|AGE|EXPIR\w*|TIMEOUT|SECONDS|MINUTES|HOURS"
    r"|DAYS|LIFETIME|LENGTH|SIZE|PREFIX|ALGORITHM|BACKENDS?|CLASS|ENGINE|MODULE|MODEL|HASHERS?|VALIDATORS|HEADER"
    r"|TYPE|URLS?|URI|ENDPOINT|ISSUER|AUDIENCE|PROVIDER|METHOD|FORMAT|FUNCTION|REALM|SCHEME)$"
)
"""What is said about a secret, as KEY_PREFIX and TOKEN_TTL are, may be an ordinary word or number."""
_SETTING = re.compile(r"\d+[a-zA-Z]{0,2}|[A-Za-z_.:-]+")
_NAME_OF_SOMEBODY = re.compile(r"(^|_)(USER|USERNAME|NAME|LOGNAME|HOST|HOSTNAME|DB|DATABASE|SCHEMA|ROLE|ENV\w*)$")
"""A word that the same app has for its user or database, too, stands in ordinary text."""

_ORDINARY = frozenset({
    "localhost", "development", "production", "staging", "testing", "default", "disabled", "enabled",
    "sqlite", "sqlite3", "postgres", "postgresql", "psycopg", "psycopg2", "mariadb", "memcached", "mongodb",
    "rabbitmq", "elasticsearch", "django", "flask", "fastapi", "starlette", "gunicorn", "uvicorn",
    "hypercorn", "waitress", "cheroot", "apache", "python", "stackrace", "password", "passwd", "secret",
    "username", "example", "console", "memory", "cookie", "session", "sessions", "header", "bearer",
})  # fmt: skip
"""What text about any app has in it; as a password each is known to all."""
_TOP = "etc|usr|run|var|home|opt|srv|tmp|mnt|root|app|apps|code|workspace|data|Users|Volumes|private|secrets|certs"
_PATH = re.compile(
    rf"(~|\.{{1,2}})(/[\w.-]+)+/?|/({_TOP})(/[\w.-]+)*/?"
    r"|[\w.-]+(/[\w.-]+)*\.(pem|key|crt|cer|p12|json|toml|ya?ml|txt|env|cfg|ini|conf|sock|db|sqlite3?|py)"
)
_TOKEN = re.compile(
    r"\b(gh[a-z]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk_(live|test)_\w{8,}|xox[a-z]-[\w-]{8,}|AKIA[0-9A-Z]{12,}"
    r"|AIza[\w-]{30,}|eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*)"
)
"""Tokens that say what they are: of GitHub, GitLab, Stripe, Slack, AWS and Google, and JSON Web Tokens."""
_URL = re.compile(r"[A-Za-z][\w+.-]*://\S+")
_PRIVATE_KEY = "KEY-----"
_ASSIGNED = re.compile(r"""([A-Za-z_][\w.-]*)\s*=\s*("[^"\n]*"|'[^'\n]*'|[^\s;&,"'<>]+)""")
_CREDENTIALS = re.compile(
    r"(\b[a-z][a-z0-9+.-]*://[^\s:/?#\"'<>]*:)(?!(?:\*\*\*|password)@)([^\s/?#\"'<>]+)@", re.IGNORECASE
)
"""The password in a URL, whosever it is; one called so is an example of ours."""

_secrets: set[str] = set()
_words: set[str] = set(_ORDINARY)
_forms: frozenset[str] = frozenset()
"""Every secret in each form in which text may have it."""
_pattern: re.Pattern[str] | None = None


def learn(variables: Mapping[str, str], ordinary: Iterable[str] = ()) -> None:
    """Have the secrets among ``variables`` masked from now on, but for words that are ``ordinary`` by their place.

    So is what a user or a database is called, even where it is a password, too.
    """
    global _forms, _pattern
    secrets = {secret for name, value in variables.items() for secret in secrets_in(name, value)}
    words = {*ordinary, *_names(variables)}
    if secrets <= _secrets and words <= _words:
        return
    _secrets.update(secrets)
    _words.update(words)
    _forms = frozenset(form for secret in _secrets - _words for form in _forms_of(secret))
    _pattern = re.compile("|".join(map(_alternative, sorted(_forms, key=len, reverse=True)))) if _forms else None


def masked(text: str) -> str:
    """Return ``text`` without the secrets that are known, and without passwords in URLs."""
    if "://" in text:
        text = _CREDENTIALS.sub(rf"\1{_MASK}@", text)
    if _pattern is None or not any(form in text for form in _forms):
        return text
    return _pattern.sub(_MASK, text)


def masked_tail(text: str) -> str:
    """Return ``masked`` text that was cut off at its beginning, within a secret, maybe."""
    rests = (form[start:] for form in _forms for start in range(1, len(form) - _SHORTEST + 1))
    rest = max(filter(text.startswith, rests), key=len, default="")
    return masked(_MASK + text[len(rest) :] if rest else text)


def masked_settings(text: str) -> str:
    """Return ``masked`` text of a configuration or a command, in which ``env = API_TOKEN=…`` sets a secret, too."""
    learn(_assigned(text))
    return masked(text)


def tells_secret(name: str) -> bool:
    """Tell whether a variable's ``name`` says that its value is a secret."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_").upper()
    return plain not in _FOLDERS and _SECRET_NAME.search(plain) is not None


def _assigned(text: str) -> dict[str, str]:
    """Return what ``text``, a configuration or a list of parameters, assigns to names: ``NAME=value``."""
    return {name: value.strip("\"'") for name, value in _ASSIGNED.findall(text)}


def secrets_in(name: str, value: str) -> Iterator[str]:
    """Yield the secrets in a variable's ``value``: all of it, or its passwords, as name and form say."""
    secrets = [*_of_url(value), *(match[0] for match in _TOKEN.finditer(value)), *_of_document(value)]
    secrets += [inner for key, inner in _assigned(value).items() if tells_secret(key)]
    if (tells_secret(name) and not _is_setting(name, value)) or _PRIVATE_KEY in value:
        secrets += [value, *value.splitlines(), *_listed(value)]
    for secret in map(str.strip, secrets):
        if len(secret) >= _SHORTEST and not _PATH.fullmatch(secret) and not secret.startswith("-----"):
            yield secret


def _is_setting(name: str, value: str) -> bool:
    """Tell whether ``value`` is only about a secret, or where it is, or a URL, of which the password is secret."""
    if _URL.fullmatch(value):
        return "@" in value or not re.search("WEBHOOK|SECRET", name, re.IGNORECASE)
    return _SETTING_NAME.search(name.replace("-", "_").upper()) is not None and bool(_SETTING.fullmatch(value))


def _of_url(value: str) -> Iterator[str]:
    """Yield the passwords of URLs, as they are written; of a token before ``@`` in one of the web, that."""
    for url in _URL.findall(value):
        with suppress(ValueError):
            parts = urlsplit(url)
            user, _, password = parts.netloc.rpartition("@")[0].partition(":")
            is_web = parts.scheme in ("http", "https")
            yield password or (user if is_web else "")
            if not is_web:
                # where nobody quoted a slash in it
                yield url.partition("://")[2].rpartition("@")[0].partition(":")[2]
            yield from (given for key, given in parse_qsl(parts.query) if tells_secret(key))


def _of_document(value: str) -> Iterator[str]:
    """Yield the secrets that a JSON document holds under names of their own."""
    if value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            yield from _members("", json.loads(value))


def _members(name: str, value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _members(str(key), inner)
        case list():
            for inner in value:
                yield from _members(name, inner)
        case str() if name:
            yield from secrets_in(name, value)


def _listed(value: str) -> Iterator[str]:
    """Yield the parts of ``first,second`` and the password of ``user:password``."""
    yield from (part for part in re.split("[,;]", value) if not part.strip().isalpha())
    if pair := re.fullmatch(r"[^:/\s]+:([^:/\s]+)", value):
        yield pair[1]


def _names(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield what somebody or something is called, by ``variables``."""
    for name, value in variables.items():
        if _NAME_OF_SOMEBODY.search(name.upper()) and re.fullmatch(r"[A-Za-z_-]+", value):
            yield value
        with suppress(ValueError):
            parts = urlsplit(value) if "://" in value else None
            if parts and parts.password:
                yield from (word for word in (parts.username or "", parts.path.strip("/")) if word.isalpha())


def _forms_of(secret: str) -> set[str]:
    """Return ``secret`` as it is, and as repr(), JSON, HTML and URLs write it; one in a log may be so twice."""
    plain = {secret, unquote(secret), unquote_plus(secret)}
    once = plain | {written for each in plain for written in _written(each)}
    twice = once | {written for each in once for written in _written(each)}
    return {form for form in twice if len(form) >= _SHORTEST}


def _written(text: str) -> Iterator[str]:
    # a quote is escaped where the text around it has the other kind, too
    for quoted in (
        repr(f'"{text}')[2:-1],
        ascii(f'"{text}')[2:-1],
        repr(f'"{text}'.encode("utf-8", "replace"))[3:-1],
    ):
        yield from (quoted, quoted.replace(r"\'", "'"))
    yield from (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    import html  # with a table of all its entities

    escaped = html.escape(text)
    yield from (html.escape(text, quote=False), escaped, escaped.replace("&#x27;", "&#39;"))
    yield escaped.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    for percent in (
        quote(text, "", errors="replace"),
        quote(text, errors="replace"),
        quote_plus(text, errors="replace"),
    ):
        yield from (percent, re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), percent))


def _alternative(form: str) -> str:
    """Return the pattern of ``form``; within another word or number, a word or number is none."""
    pattern = re.escape(form)
    if form.isdigit():
        return rf"(?<!\d){pattern}(?!\d)"
    if form.isalpha():
        return rf"(?:(?<![^\W\d_])|(?<=\\[abfnrtv])){pattern}(?![^\W\d_])"
    return pattern
