# Operators by name: dispatcher.ops.namespace.name.overload, and what an Operator says in words.
#
# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

from . import _keyway
from ._error import NotFound
from ._key import KeySet

Operator = _keyway.Operator

# The order is that of the bits.
_TAGS = (
    "core", "data_dependent_output", "dynamic_output_shape", "generated", "inplace_view",
    "nondeterministic_bitwise", "nondeterministic_seeded", "pointwise", "view_copy",
    "pt2_compliant_tag", "needs_fixed_stride_order",
)


def tag_bits(tags):
    bits = 0
    for tag in tags:
        if tag not in _TAGS:
            raise ValueError(f"{tag!r} is no tag of an operator: {', '.join(_TAGS)}")
        bits |= 1 << _TAGS.index(tag)
    return bits


def _tags(self):
    return tuple(tag for bit, tag in enumerate(_TAGS) if self._tag_bits >> bit & 1)


def _explain(self, *keys):
    """Says which kernel a call with these keys reaches, and why."""
    rows = {row.key: row for row in self.table()}
    left = KeySet(keys[0] if len(keys) == 1 else keys)
    lines = [f"{self.name} with {left}"]
    while True:
        row = rows[left.highest]
        if not row.is_fallthrough or not left:
            break
        lines.append(f"  {row.key}: falls through ({row.sentence})")
        left = left - row.key
    place = f" at {row.file}:{row.line}" if row.file else ""
    origin = f" of {row.library}" if row.library else ""
    lines.append(f"  {row.key}: {row.kernel}{origin}{place}")
    lines.append(f"    {row.rule}: {row.sentence}")
    return "\n".join(lines)


Operator.tags = property(_tags, doc="The tags of the definition.")
Operator.explain = _explain


class OperatorPacket:
    """All overloads of one name."""

    def __init__(self, dispatcher, name):
        self._dispatcher = dispatcher
        self._name = name

    @property
    def name(self):
        return self._name

    @property
    def default(self):
        return self._dispatcher.operator(self._name)

    def overloads(self):
        names = (name.partition(".") for name in self._dispatcher.operators())
        return [overload for name, _, overload in names if name == self._name]

    def table(self):
        return self._first().table()

    def redispatch(self, keys, /, *args, **kwargs):
        return self._fitting(args, kwargs).redispatch(keys, *args, **kwargs)

    def __call__(self, *args, **kwargs):
        try:
            op = self._dispatcher.operator(self._name)
        except NotFound:
            op = self._fitting(args, kwargs)
        return op(*args, **kwargs)

    def _first(self):
        overloads = self.overloads()
        return getattr(self, overloads[0]) if overloads and overloads[0] else self.default

    def _fitting(self, args, kwargs):
        """The overload without a name, else the first that takes the arguments."""
        overloads = self.overloads()
        if len(overloads) < 2 or "" in overloads:
            return self._first()
        candidates = [self._dispatcher.operator(f"{self._name}.{name}") for name in overloads]
        for op in candidates:
            if op.accepts(*args, **kwargs):
                return op
        schemas = "\n  ".join(str(op.schema) for op in candidates)
        raise TypeError(f"{self._name}: no overload takes these arguments:\n  {schemas}")

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(overload)
        try:
            return self._dispatcher.operator(f"{self._name}.{overload}")
        except NotFound as error:
            raise AttributeError(str(error)) from error

    def __dir__(self):
        return [*super().__dir__(), *filter(None, self.overloads())]

    def __repr__(self):
        return f"<keyway.OperatorPacket {self._name}>"


class OperatorNamespace:
    """The operators of one namespace."""

    def __init__(self, dispatcher, ns):
        self._dispatcher = dispatcher
        self._ns = ns

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        packet = OperatorPacket(self._dispatcher, f"{self._ns}::{name}")
        try:
            packet.default
        except NotFound as error:
            if not packet.overloads():
                raise AttributeError(str(error)) from error
        self.__dict__[name] = packet
        return packet

    def __dir__(self):
        names = (name.partition("::") for name in self._dispatcher.operators())
        return sorted({name.partition(".")[0] for ns, _, name in names if ns == self._ns})

    def __repr__(self):
        return f"<keyway.OperatorNamespace {self._ns}>"


class Operators:
    """The operators of a dispatcher, by namespace."""

    def __init__(self, dispatcher):
        self._dispatcher = dispatcher

    def __getattr__(self, ns):
        if ns.startswith("__"):
            raise AttributeError(ns)
        namespace = OperatorNamespace(self._dispatcher, ns)
        self.__dict__[ns] = namespace
        return namespace

    def __dir__(self):
        return sorted({name.partition("::")[0] for name in self._dispatcher.operators()})
