import html
import json
from urllib.parse import quote

import pytest
from tests.growth import is_linear
from tests.ordinary import ordinarily

from stackrace.base.errors import AppError, StackraceError
from stackrace.base.secrets import (
    MASK,
    _assigned,
    is_secret_name,
    masked,
    masked_settings,
    masked_tail,
    register_secrets,
    secrets_in,
)


@pytest.mark.parametrize(
    "name",
    [
        "SECRET_KEY", "API_TOKEN", "DB_PASS", "DBPASS", "PGPASSWORD", "MYSQL_PWD", "APIKEY", "STRIPE_KEYS",
        "apiKey", "AWS_SECRET_ACCESS_KEY", "SENTRY_DSN", "BASIC_AUTH", "password", "db-password", "KEY2",
        "GH_CREDENTIALS",
    ],
)  # fmt: skip
def test_a_name_tells_a_secret(name):
    assert is_secret_name(name)
    register_secrets({name: "canary-4711"})
    assert masked("it says canary-4711.") == f"it says {MASK}."


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "KEYBOARD", "PASSENGERS", "AUTHOR", "PATH", "DATABASE", "TOKYO"])
def test_other_names_tell_none(name):
    assert not is_secret_name(name)
    register_secrets({name: "canary-4711"})
    assert masked("it says canary-4711.") == "it says canary-4711."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", "short"),
        ("SECRET_BACKEND", "sqlite3"),
        ("KEY_PREFIX", "development"),
        ("TOKEN_TTL", "3600000"),
        ("SECRET_KEY", "production"),
        ("KEY_HOST", "localhost"),
        ("SSL_KEY", "/etc/ssl/private/shop.pem"),
        ("SSL_KEY", "config/master.key"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-x1/agent.99"),
        ("PASSWORD_HASHER", "django.contrib.auth.hashers.Hasher"),
        ("TOKEN_URL", "https://login.example.com/token"),
        ("DATABASE_URL", "postgresql://shopper@localhost/shop"),
    ],
)
def test_ordinary_words_numbers_and_paths_are_no_secrets(name, value):
    register_secrets({name: value})
    assert masked(f"File {value!r} of {value}") == f"File {value!r} of {value}"


def test_what_the_app_calls_its_user_or_its_folder_stays_readable_where_it_is_a_password_too():
    register_secrets({"DB_PASSWORD": "shopapp", "API_TOKEN": "bakery"})
    register_secrets({"POSTGRES_USER": "shopapp"}, ["bakery"])
    assert masked("/home/ana/bakery/shopapp/views.py") == "/home/ana/bakery/shopapp/views.py"


def test_a_word_or_number_is_masked_as_a_whole_only():
    register_secrets({"DB_PASSWORD": "garden", "PIN": "471100"})
    assert masked("garden gardener 471100 9471100") == f"{MASK} gardener {MASK} 9471100"
    assert masked(r"\ngarden") == rf"\n{MASK}"


def test_of_a_url_the_password_is_masked_alone_and_in_its_place():
    register_secrets({"DATABASE_URL": "postgresql://ana:p%40ss%2Fw0rd@db/shop"})
    for text in ("p%40ss%2Fw0rd", "p%40ss%2fw0rd", "p@ss/w0rd"):
        assert masked(f"({text})") == f"({MASK})"
    assert masked("postgresql://ana:p%40ss%2Fw0rd@db/shop") == f"postgresql://ana:{MASK}@db/shop"
    assert masked("amqp://eve:short@mq/ fails") == f"amqp://eve:{MASK}@mq/ fails"


def test_a_password_with_a_slash_that_nobody_quoted_is_masked():
    register_secrets({"DATABASE_URL": "postgres://ana:se/cr@et99@db/shop"})
    assert masked("'se/cr@et99'") == f"'{MASK}'"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("SENTRY_DSN", "https://4711canary@sentry.example/1", "4711canary"),
        ("REPOSITORY", "https://ghp_0123456789abcdefghij@github.com/a/b", "ghp_0123456789abcdefghij"),
        ("DB", "host=db user=ana password=canary-1", "canary-1"),
        ("STORE", "https://x.example/?sig=1&access_token=canary-2", "canary-2"),
        ("GOOGLE", '{"type": "account", "private_key": "canary-3"}', "canary-3"),
        ("API_KEYS", "canary-4, canary-5", "canary-5"),
        ("BASIC_AUTH", "ana:canary-6", "canary-6"),
        ("WEBHOOK_URL", "https://hooks.example/T0/canary", "https://hooks.example/T0/canary"),
        ("X", "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM", "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM"),
        ("SECRET_KEY", "my key=abcdef and more", "my key=abcdef and more"),
        ("SIGNING_KEY", "-----BEGIN X-----\nMIIEcanary\n-----END X-----", "MIIEcanary"),
    ],
)
def test_values_tell_secrets_by_their_form(name, value, secret):
    assert secret in list(secrets_in(name, value))
    register_secrets({name: value})
    assert secret not in masked(f"it was {secret}!")


SECRETS = ["""it's "so" s<cr&t\\n""", "grün\tgeheim", "a+b c/d%=="]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "written",
    [
        str, repr, ascii, lambda text: repr(text.encode()), json.dumps, lambda text: json.dumps(repr(text)),
        html.escape, lambda text: json.dumps({"a": text}, ensure_ascii=False), quote,
        lambda text: repr(["'", text]), lambda text: repr("\"'" + text), lambda text: repr(repr(text)),
        lambda text: html.escape(repr(text)).replace("&#x27;", "&#39;"),
    ],
)  # fmt: skip
def test_a_secret_is_masked_however_it_is_written(secret, written):
    register_secrets({"SECRET_KEY": secret})
    shown = masked(f"before {written(secret)} after")
    assert MASK in shown and written(secret).strip("'\"") not in shown
    assert len(shown) < len("before  after") + 20


def test_text_that_begins_within_a_secret_does_not_show_the_rest():
    register_secrets({"SECRET_KEY": "canary-4711-abcdef"})
    assert masked_tail("4711-abcdef was it, canary-4711-abcdef") == f"{MASK} was it, {MASK}"
    assert masked_tail("nothing of it") == "nothing of it"


def test_every_error_is_masked_whoever_raises_it():
    register_secrets({"SECRET_KEY": "canary-4711"})
    error = AppError("it says canary-4711", detail="KeyError: 'canary-4711'")
    assert "canary" not in f"{error} {error.message} {error.detail} {error!r}"
    assert StackraceError("nothing of it").message == "nothing of it"


def test_what_a_configuration_assigns_is_read():
    assert _assigned("env = API_TOKEN=canary-1\nx: --set 'DB_PASS=canary-2'") == {
        "env": "API_TOKEN=canary-1",
        "DB_PASS": "canary-2",
    }


@pytest.mark.parametrize(
    "repeated",
    ordinarily([
        "x", "a.", "a=", 'a="', "a='", "a='\"", "a ", "a= ", "://", "a://b:c@", "a://", "@", "a:", "/a", "a/",
        "a/.", "_EXPIR", "_ENV", "-eyJ", "eyJa.eyJb.", "-xox", "KEY1", "aA", "%41", "'\"\\", "ä", "secret12\n",
        "abc1234,", "[", '{"a":', "-----BEGIN KEY-----\n", " ", "1", "a.a=\n", "{}",
    ], ("x", "a.", "://", "eyJa.eyJb.")),
)  # fmt: skip
def test_names_values_and_text_of_any_length_take_linear_time(repeated):
    def text(size):
        return repeated * (size // len(repeated)) + " ://!"

    assert is_linear(lambda value: register_secrets({"A": f"a://{value}"}), text)
    assert is_linear(lambda value: register_secrets({"A_SECRET": value}), text)
    assert is_linear(lambda name: register_secrets({name: "canary-4711"}), text)
    for look in (masked, masked_tail, masked_settings):
        assert is_linear(look, text)


def test_many_secrets_take_no_longer_than_few_in_text():
    def named(size):
        return {f"TOKEN_{number}": f"canary+{number:06}/x" for number in range(size // 100)}

    assert is_linear(register_secrets, named)
    text = " ".join(named(100_000).values())
    assert set(masked(text)) == {*MASK, " "}
    assert is_linear(masked, lambda size: text * (size // len(text)))


def test_a_long_secret_is_masked_as_a_whole_and_where_it_was_cut():
    secret = "".join(f"{number:x}/" for number in range(50_000))
    register_secrets({"SECRET_KEY": secret})
    assert masked(f"'{secret}'") == f"'{MASK}'"
    assert set(masked_tail(secret[1234:])) == {*MASK}
    assert secret[-100:-90] not in masked(repr(secret))
