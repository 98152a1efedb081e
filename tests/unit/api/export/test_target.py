"""The machine that an export is for, from what the user wishes."""

from pathlib import Path

import pytest

from stackrace.api.export.making import TargetWishes, target_of
from stackrace.model.errors import InputError


@pytest.mark.parametrize("name", ["news", "mail", "games", "list", "backup", "proxy", "www-data", "nginx"])
def test_an_app_that_is_called_like_a_user_of_debians_gets_one_of_its_own(name):
    assert target_of(TargetWishes(), name).user == f"{name}-app"
    assert target_of(TargetWishes(base=Path("/srv", name)), "shop").name == name


def test_a_user_of_debians_is_refused():
    with pytest.raises(InputError, match="shop-app"):
        target_of(TargetWishes(user="www-data"), "shop")
