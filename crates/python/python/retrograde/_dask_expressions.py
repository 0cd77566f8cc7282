"""Movements as expressions of Dask, for ``array.query-planning``: the module that uses what Dask does not document."""

from functools import cached_property

from dask._collections import new_collection
from dask.array._array_expr._expr import ArrayExpr


class Movement(ArrayExpr):
    """The result of a movement; ``lengths`` is None if they are known."""

    _parameters = ["array", "lengths", "movement", "meta", "prefix"]

    @cached_property
    def _meta(self):
        return self.operand("meta")

    @cached_property
    def chunks(self):
        return self.operand("movement").chunks

    @cached_property
    def _name(self):
        return f"{self.operand('prefix')}-{self.deterministic_token}"

    def _layer(self):
        lengths = self.operand("lengths")
        return self.operand("movement").tasks(self._name, self.array._name, None if lengths is None else lengths._name)


def expression(prefix, movement, x, lengths, meta):
    return new_collection(Movement(x.expr, None if lengths is None else lengths.expr, movement, meta, prefix))
