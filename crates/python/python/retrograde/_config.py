"""Settings of the package: ``retrograde.config``."""

from __future__ import annotations

import operator
import sys
from typing import Any, Literal, SupportsIndex, TypeAlias

from . import _engine

Hint: TypeAlias = Literal["read-soon"] | Literal["read-later"]

#: The default of a setting that a ``with`` form leaves as it is.
_UNCHANGED: Any = type("Unchanged", (), {"__repr__": lambda self: "unchanged"})()


class Config:
    """The settings: attributes that can be read and set, and a ``with`` form that restores them.

    >>> retrograde.config.hint = "read-soon"
    >>> retrograde.config.hint
    'read-soon'
    >>> retrograde.config.hint = None
    >>> with retrograde.config(hint="read-later", kept_memory=64 << 20):
    ...     y = retrograde.reverse(np.arange(3))
    >>> retrograde.config
    retrograde.config(hint=None, kept_memory=None)
    """

    __slots__ = ()

    @property
    def hint(self) -> Hint | None:
        """When outputs are read; results do not depend on it. For calls of this thread on the CPU.

        ``"read-soon"``: stores leave outputs in the caches, whatever their size. ``"read-later"``:
        non-temporal stores bypass the caches from 64 KiB on, and what was there stays. ``None`` (the
        default): the size of the output decides. A call reads it when it runs, a prepared one too.
        """
        return _engine.hint()

    @hint.setter
    def hint(self, outputs: Hint | None) -> None:
        _engine.set_hint(outputs)

    @property
    def kept_memory(self) -> int | None:
        """The most bytes of freed outputs to keep for the next large ones, in this process.

        0 keeps none. ``None`` is the default: 512 MiB, or less on small machines and with one thread.
        """
        return _engine.kept_memory_limit()

    @kept_memory.setter
    def kept_memory(self, bytes: SupportsIndex | None) -> None:
        _engine.set_kept_memory(_checked_bytes(bytes))

    @property
    def kept_now(self) -> int:
        """The number of bytes kept now."""
        return _engine.kept_memory()

    def __call__(
        self,
        *,
        hint: Hint | None = _UNCHANGED,
        kept_memory: SupportsIndex | None = _UNCHANGED,
    ) -> Changed:
        """Settings for a ``with`` block, after which they are what they were."""
        settings: dict[str, object] = {}
        if hint is not _UNCHANGED:
            # Checked now, not when the block is entered.
            _engine.set_hint(_engine.set_hint(hint))
            settings["hint"] = hint
        if kept_memory is not _UNCHANGED:
            settings["kept_memory"] = _checked_bytes(kept_memory)
        return Changed(self, settings)

    def __repr__(self) -> str:
        return f"retrograde.config(hint={self.hint!r}, kept_memory={self.kept_memory!r})"


class Changed:
    """Settings of a ``with`` block."""

    __slots__ = ("_before", "_config", "_settings")

    def __init__(self, config: Config, settings: dict[str, object]) -> None:
        self._config, self._settings = config, settings
        self._before: list[dict[str, object]] = []

    def __enter__(self) -> Config:
        self._before.append({name: getattr(self._config, name) for name in self._settings})
        self._set(self._settings)
        return self._config

    def __exit__(self, *error: object) -> None:
        self._set(self._before.pop())

    def _set(self, settings: dict[str, object]) -> None:
        for name, value in settings.items():
            setattr(self._config, name, value)


def _checked_bytes(value: SupportsIndex | None) -> int | None:
    if value is None:
        return None
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"config.kept_memory is {value!r}, expected a number of bytes or None") from None
    if count < 0:
        raise ValueError(f"config.kept_memory is {count}, expected 0 or more")
    return min(count, sys.maxsize)


#: The settings of the package.
config = Config()
