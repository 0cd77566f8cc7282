"""More of ``test_jax_transformations.py`` and ``test_jax.py``: calls one by one, which are compiled one by one."""

import pytest

pytest.importorskip("jax")

import jax  # noqa: E402
from test_jax import check_random_calls  # noqa: E402
from test_jax_transformations import check_vmap  # noqa: E402


@pytest.mark.parametrize("is_off", [False, True], ids=["jit", "no jit"])
@pytest.mark.parametrize("at", range(4))
def test_vmap_of_calls_that_are_not_in_a_program(at, is_off):
    with jax.disable_jit(is_off):
        check_vmap(at, lambda program: program)


def test_random_calls_that_are_not_in_a_program():
    check_random_calls(60, every=1)
