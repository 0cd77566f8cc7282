"""The examples in the docstrings."""

import doctest
import importlib

import numpy as np
import pytest
import retrograde


@pytest.mark.parametrize("name", ["retrograde", "retrograde._explain", "retrograde._show"])
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"np": np, "retrograde": retrograde})
    assert result.attempted > 0 and result.failed == 0


def test_every_public_name_is_documented():
    for name in retrograde.__all__:
        assert getattr(retrograde, name).__doc__, name
