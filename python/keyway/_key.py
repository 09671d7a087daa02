# Keys: the class Key, an integer with a name.
#
# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

from . import _keyway

KeySet = _keyway.KeySet


class Key(int):
    """One dispatch key: its number, and what there is to know of it."""

    __slots__ = ()

    def __new__(cls, key):
        return super().__new__(cls, _keyway._key_parse(key))

    @property
    def name(self):
        return _keyway._key_name(int(self))

    @property
    def functionality(self):
        return Key(_keyway._key_facts(int(self))[0])

    @property
    def backend(self):
        return _keyway._key_facts(int(self))[1]

    @property
    def is_alias(self):
        return _keyway._key_facts(int(self))[2]

    @property
    def is_runtime(self):
        return _keyway._key_facts(int(self))[3]

    def __or__(self, other):
        try:
            return KeySet(self) | other
        except TypeError:
            return NotImplemented

    def __repr__(self):
        return f"Key({self.name!r})"

    def __str__(self):
        return self.name

    __format__ = object.__format__

    def __reduce__(self):
        return Key, (self.name,)
