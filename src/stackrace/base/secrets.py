"""Secrets of the app: values of its variables that must not appear in stored or shown text.

The names of variables and the forms of values show which are secrets. Code that reads an app's variables must call
`register_secrets`. Code that receives text of the app, its server or its logs masks it before it cuts or quotes it.
One process knows the secrets of all apps that it has met. Masking takes linear time for text of any length and any
number of secrets: no pattern here backtracks, or starts again within text that it has tried.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_plus, urlsplit

MASK = "***"
_SHORTEST = 6
"""Minimum length of a secret: shorter texts are parts of ordinary words."""

_SECRET_NAME = re.compile(
    r"SECRET|TOKEN|PASSW|PASSPHRASE|PASSCODE|AUTHORIZATION|CREDENTIAL|WEBHOOK|BEARER|CONN(ECTION)?_?STR|KEYS?\d*(?![A-Z])"
    r"|(PASS|PWD|AUTH|SALT|JWT|DSN|SAS|CREDS?)\d*(?![A-Z])|(?<![A-Z])(PW|PIN)(?![A-Z])"
)
_FOLDERS = ("PWD", "OLDPWD")
_SETTING_NAME = re.compile(
    r"_(FILE|PATH|DIR|FOLDER|SOCK|SOCKET|HOST|PORT|USER|USERNAME|NAME|TTL|AGE|EXPIR[A-Z]*|TIMEOUT|SECONDS|MINUTES|HOURS"
    r"|DAYS|LIFETIME|LENGTH|SIZE|PREFIX|ALGORITHM|BACKENDS?|CLASS|ENGINE|MODULE|MODEL|HASHERS?|VALIDATORS|HEADER"
    r"|TYPE|URLS?|URI|ENDPOINT|ISSUER|AUDIENCE|PROVIDER|METHOD|FORMAT|FUNCTION|REALM|SCHEME)$"
)
"""Names of settings about a secret, as KEY_PREFIX and TOKEN_TTL, whose values may be ordinary words or numbers."""
_SETTING = re.compile(r"\d+[a-zA-Z]{0,2}|[A-Za-z_.:-]+")
_NAME_OF_SOMEBODY = re.compile(
    r"(^|_)(USER|USERNAME|NAME|LOGNAME|HOST|HOSTNAME|DB|DATABASE|SCHEMA|ROLE|ENV[A-Z0-9]*)$"
)
"""Names of variables for users or databases, whose values are ordinary words in the app's texts."""

_ORDINARY = frozenset({
    "localhost", "development", "production", "staging", "testing", "default", "disabled", "enabled",
    "sqlite", "sqlite3", "postgres", "postgresql", "psycopg", "psycopg2", "mariadb", "memcached", "mongodb",
    "rabbitmq", "elasticsearch", "django", "flask", "fastapi", "starlette", "gunicorn", "uvicorn",
    "hypercorn", "waitress", "cheroot", "apache", "python", "stackrace", "password", "passwd", "secret",
    "username", "example", "console", "memory", "cookie", "session", "sessions", "header", "bearer",
})  # fmt: skip
"""Ordinary words in texts about any app; as passwords they would be known to everybody."""
_TOP = "etc|usr|run|var|home|opt|srv|tmp|mnt|root|app|apps|code|workspace|data|Users|Volumes|private|secrets|certs"
_PATH = re.compile(rf"(~|\.{{1,2}})(/[\w.-]++)++/?|/({_TOP})(/[\w.-]++)*+/?")
_FILE = re.compile(r"[\w.-]++(/[\w.-]++)*+")
_SUFFIXES = (
    ".pem", ".key", ".crt", ".cer", ".p12", ".json", ".toml", ".yml", ".yaml", ".txt", ".env", ".cfg", ".ini",
    ".conf", ".sock", ".db", ".sqlite", ".sqlite3", ".py",
)  # fmt: skip
_TOKEN = re.compile(
    r"\b(?:gh[a-z]_\w{20,}|github_pat_\w{20,}|sk_(?:live|test)_\w{8,}|AKIA[0-9A-Z]{12,})"
    r"|(?<![\w-])(?:glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}|AIza[\w-]{30,}|eyJ[\w-]++\.eyJ[\w-]++\.[\w-]*)"
)
"""Tokens with a recognisable form: of GitHub, GitLab, Stripe, Slack, AWS and Google, and JSON Web Tokens."""
_SIGNS = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "_pat_", "glpat-", "sk_", "xox", "AKIA", "AIza", "eyJ")
_URL = re.compile(r"(?<![\w+.-])[\d_+.-]*+([A-Za-z][\w+.-]*+://\S+)")
_PRIVATE_KEY = "KEY-----"
_ASSIGNED = re.compile(r"""(?<![\w.-])[\d.-]*+([A-Za-z_][\w.-]*+)\s*+=\s*+("[^"\n]*+"|'[^'\n]*+'|[^\s;&,"'<>]++)""")
_HEADER = re.compile(r"""(authorization|cookie)["']?\s*+[:=]\s*+["']?([^"'\n]++)""", re.IGNORECASE)
_SESSION = re.compile(r"sess|sid", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_AUTHORITY = re.compile(r"[^\s/?#\"'<>]*")
_UNQUOTED = re.compile(r"[A-Za-z0-9_.~-]*")
"""Text that repr(), JSON, HTML and URLs leave unchanged."""
_PERCENT = re.compile("%[0-9A-F]{2}")

_FEW = 500
"""Number of beginnings of secrets up to which a text is first searched for each: most texts contain none."""
_LONG_WORD = 16
"""Minimum length of a word that counts as a token, for example in place of a user's name in a URL."""
_PIECE = 64
"""Length of a piece: longer secrets are stored in pieces, so that no letter of a text is compared often."""
_MOST_REWRITTEN = 1 << 16
"""Maximum length, in all, of secrets that are known in escaped forms, too; environments have less."""


class _Known:
    """Secrets that this process has met, and one index of all their forms."""

    def __init__(self) -> None:
        self.secrets: set[str] = set()
        self.words: set[str] = set(_ORDINARY)
        self.forms: set[str] = set()
        """All forms in which a text may contain a secret, or their pieces."""
        self.lengths: dict[str, set[int]] = {}
        """Lengths of the forms, by their first ``_SHORTEST`` letters."""
        self.rewritten = 0

    def add(self, secrets: set[str], words: set[str]) -> None:
        """Add ``secrets``, and ``words`` that are never masked."""
        self.words |= words
        for secret in secrets - self.secrets:
            self.secrets.add(secret)
            is_plain = _UNQUOTED.fullmatch(secret) or self.rewritten + len(secret) > _MOST_REWRITTEN
            self.rewritten += 0 if is_plain else len(secret)
            for form in {secret} if is_plain else _forms_of(secret):
                # the last piece is the longest, and none is so short that ordinary text contains it
                *starts, last = range(0, max(len(form) // _PIECE, 1) * _PIECE, _PIECE)
                for piece in (*(form[start : start + _PIECE] for start in starts), form[last:]):
                    self.lengths.setdefault(piece[:_SHORTEST], set()).add(len(piece))
                    self.forms.add(piece)

    def masked(self, text: str, *, words: bool) -> str:
        if len(self.lengths) < _FEW and not any(letters in text for letters in self.lengths):
            return text
        shown: list[str] = []
        since = 0
        for at in range(len(text) - _SHORTEST + 1):
            if at >= since and (lengths := self.lengths.get(text[at : at + _SHORTEST])):
                for length in sorted(lengths, reverse=True):
                    form = text[at : at + length]
                    is_secret = form in self.forms and form not in self.words
                    if is_secret and not _is_ordinary(text, at, form, words=words):
                        if at > since or not shown:
                            shown += [text[since:at], MASK]
                        since = at + length
                        break
        return "".join([*shown, text[since:]])

    def cut_at_start(self, text: str) -> int:
        """Return the number of letters at the start of ``text`` that are the end of a form; 0 for none."""
        longest, letters = 0, text[:_SHORTEST]
        for form in self.forms - self.words if len(letters) == _SHORTEST else ():
            at = form.find(letters, 1)
            while at > 0 and not text.startswith(form[at:]):
                at = form.find(letters, at + 1)
            longest = max(longest, len(form) - at if at > 0 else 0)
        return longest


_known = _Known()


def register_secrets(variables: Mapping[str, str], ordinary: Iterable[str] = ()) -> None:
    """Mask the secrets among ``variables`` from now on, except for ``ordinary`` words.

    Names of users and databases are not masked, even if they are passwords as well.
    """
    secrets = {secret for name, value in variables.items() for secret in secrets_in(name, value)}
    _known.add(secrets, {*ordinary, *_names(variables)})


def masked(text: str, *, words: bool = True) -> str:
    """Return ``text`` with known secrets, recognisable tokens, and passwords in URLs masked.

    Without ``words``, as in a whole document, secrets that are a mere word or number stay.
    """
    if any(sign in text for sign in _SIGNS):
        text = _TOKEN.sub(MASK, text)
    return _known.masked(_without_passwords(text), words=words)


def by_name(text: str, variables: Mapping[str, str]) -> str:
    """Return a whole document with the names of ``variables`` in place of their secrets; others are masked."""
    if masked(text, words=False) == text:
        return text
    forms = {form: name for name, value in variables.items() for form in forms_in(name, value).values()}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, forms[form]) if masked(form, words=False) == MASK else text
    return masked(text, words=False)


def forms_in(name: str, value: str) -> dict[str, str]:
    """Return the secrets in a variable's ``value`` in each form, by a key that is the same in every process."""
    return {
        f"{name}/{place}/{number}": form
        for place, secret in enumerate(secrets_in(name, value))
        for number, form in enumerate(sorted(_forms_of(secret)))
    }


def _without_passwords(text: str) -> str:
    """Return ``text`` without passwords in URLs; the word "password" stays, because our examples contain it."""
    first, *rest = text.split("://")
    shown = [first]
    for part in rest:
        login = _AUTHORITY.match(part)[0].rpartition("@")[0]  # type: ignore[index]
        user, colon, password = login.partition(":")
        is_token = not colon and len(user) >= _LONG_WORD and shown[-1].endswith(("http", "https"))
        is_shown = not is_token and password in ("", MASK, "password")
        shown.append(part if is_shown else f"{'' if is_token else user + colon}{MASK}{part[len(login) :]}")
    return "://".join(shown)


def masked_tail(text: str) -> str:
    """Return ``masked`` text that was cut off at its beginning, perhaps within a secret."""
    rest = _known.cut_at_start(text)
    return masked(MASK + text[rest:] if rest else text)


def masked_settings(text: str) -> str:
    """Return ``masked`` text of a configuration or a command, where ``env = API_TOKEN=…`` sets a secret, too."""
    register_settings(text)
    return masked(text)


def register_settings(text: str) -> bool:
    """Learn the secrets that ``text``, a configuration or a word of a command, assigns or has in a header.

    Returns True if there are any.
    """
    variables = {**_assigned(text), **sent((), (match.groups() for match in _HEADER.finditer(text)))}
    register_secrets(variables)
    return any(True for name, value in variables.items() for _ in secrets_in(name, value))


def keep_words(names: Iterable[str]) -> None:
    """Never mask the words of ``names``: a name stays, even if it is a password as well."""
    register_secrets({}, (word for name in names for word in (name, *_WORD.findall(name))))


def sent(urls: Iterable[str], headers: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the parameters in URLs and the values of headers, by their names.

    A parameter whose value lacks letters or digits, such as ``sort_key=last-name``, is left out.
    """
    pairs = [pair for url in urls for pair in parse_qsl(url.partition("?")[2])]
    values = {name: value for name, value in pairs if re.search("[A-Za-z]", value) and re.search(r"\d", value)}
    for name, value in headers:
        if name.lower().endswith("cookie"):
            cookies = [cookie.strip().partition("=") for cookie in value.split(";")]
            values |= {f"{key} secret" if _SESSION.search(key) else key: given for key, _, given in cookies}
        elif name.lower().endswith("authorization"):
            scheme, _, values[name] = value.strip().rpartition(" ")
            with suppress(ValueError):
                pair = base64.b64decode(values[name], validate=True).decode() if scheme.lower() == "basic" else ""
                values[f"{name} of Basic"] = pair
        else:
            values[name] = value
    return values


def is_secret_name(name: str) -> bool:
    """Tell whether a variable's ``name`` marks its value as a secret."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_").upper()
    return plain not in _FOLDERS and _SECRET_NAME.search(plain) is not None


def _assigned(text: str) -> dict[str, str]:
    return {name: value.strip("\"'") for name, value in _ASSIGNED.findall(text)}


def secrets_in(name: str, value: str) -> Iterator[str]:
    """Yield the secrets in a variable's ``value``: all of it, or its passwords, depending on name and form."""
    secrets = [*_of_url(value), *(match[0] for match in _TOKEN.finditer(value)), *_of_document(value)]
    secrets += [inner for key, inner in _assigned(value).items() if is_secret_name(key)]
    if (is_secret_name(name) and not _is_setting(name, value)) or _PRIVATE_KEY in value:
        secrets += [value, *value.splitlines(), *_listed(value)]
    for secret in map(str.strip, secrets):
        if len(secret) >= _SHORTEST and not _is_path(secret) and not secret.startswith("-----"):
            yield secret


def _is_path(value: str) -> bool:
    return bool(_PATH.fullmatch(value) or (value.endswith(_SUFFIXES) and _FILE.fullmatch(value)))


def _is_setting(name: str, value: str) -> bool:
    """Tell whether ``value`` is not secret as a whole, although its variable has the name of a secret.

    It may describe the secret, or be a path to it. In a URL only the password is secret.
    """
    if _URL.fullmatch(value):
        return "@" in value or not re.search("WEBHOOK|SECRET", name, re.IGNORECASE)
    return _SETTING_NAME.search(name.replace("-", "_").upper()) is not None and bool(_SETTING.fullmatch(value))


def _of_url(value: str) -> Iterator[str]:
    """Yield the passwords of URLs as written, and a token before ``@`` in a web URL."""
    for url in _URL.findall(value):
        with suppress(ValueError):
            parts = urlsplit(url)
            user, _, password = parts.netloc.rpartition("@")[0].partition(":")
            is_web = parts.scheme in ("http", "https")
            yield password or (user if is_web else "")
            if not is_web:
                # a password with an unquoted slash
                yield url.partition("://")[2].rpartition("@")[0].partition(":")[2]
            yield from (given for key, given in parse_qsl(parts.query) if is_secret_name(key))


def _of_document(value: str) -> Iterator[str]:
    """Yield the secrets that a JSON document contains under secret names."""
    if value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            waiting: list[tuple[str, object]] = [("", json.loads(value))]
            while waiting:
                match waiting.pop():
                    case _, dict() as members:
                        waiting += [(str(key), inner) for key, inner in members.items()]
                    case name, list() as members:
                        waiting += [(name, inner) for inner in members]
                    case name, str() as inner if name:
                        yield from secrets_in(name, inner)


def _listed(value: str) -> Iterator[str]:
    """Yield the parts of ``first,second`` and the password of ``user:password``."""
    yield from (part for part in re.split("[,;]", value) if not part.strip().isalpha())
    if pair := re.fullmatch(r"[^:/\s]+:([^:/\s]+)", value):
        yield pair[1]


def _names(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of users, databases and the like in ``variables``."""
    for name, value in variables.items():
        if _NAME_OF_SOMEBODY.search(name.upper()) and re.fullmatch(r"[A-Za-z_-]+", value):
            yield value
        with suppress(ValueError):
            parts = urlsplit(value) if "://" in value else None
            if parts and parts.password:
                yield from (word for word in (parts.username or "", parts.path.strip("/")) if word.isalpha())


def _forms_of(secret: str) -> set[str]:
    """Return ``secret`` as it is, and as repr(), JSON, HTML and URLs escape it, up to twice, as in logs."""
    plain = {secret, unquote(secret), unquote_plus(secret)}
    once = plain | {written for each in plain for written in _written(each)}
    twice = once | {written for each in once for written in _written(each)}
    return {form for form in twice if len(form) >= _SHORTEST}


def _written(text: str) -> Iterator[str]:
    import html  # with a table of all its entities

    # a quote is escaped if the text around it has the other kind, too
    quoted, in_bytes = f'"{text}', f'"{text}'.encode("utf-8", "replace")
    for each in (repr(quoted)[2:-1], ascii(quoted)[2:-1], repr(in_bytes)[3:-1]):
        yield from (each, each.replace(r"\'", "'"))
    yield from (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    escaped = html.escape(text)
    yield from (html.escape(text, quote=False), escaped, escaped := escaped.replace("&#x27;", "&#39;"))
    yield escaped.replace("&quot;", "&#34;")
    for write, safe in ((quote, ""), (quote, "/"), (quote_plus, "")):
        percent = write(text, safe, errors="replace")
        yield from (percent, _PERCENT.sub(lambda match: match[0].lower(), percent))


def _is_ordinary(text: str, at: int, form: str, *, words: bool) -> bool:
    """Tell whether ``form``, found at index ``at`` of ``text``, is part of a longer word or number.

    Without ``words``, a whole word or number that is not long is ordinary, too.
    """
    if len(form) >= _PIECE or not (form.isdecimal() or form.isalpha()):
        return False
    if not words and len(form) < _LONG_WORD:
        return True
    before, after = text[at - 1 : at], text[at + len(form) : at + len(form) + 1]
    if form.isdecimal():
        return before.isdecimal() or after.isdecimal()
    is_escape = text[at - 2 : at - 1] == "\\" and before in "abfnrtv"
    return after.isalpha() or (before.isalpha() and not is_escape)
