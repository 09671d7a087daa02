# Dispatchers, libraries and transactions, as programs see them.
#
# Layer:   python
# Threads: any; a transaction is used by one thread at a time.
# SPDX-License-Identifier: MIT

import sys

from . import _keyway
from ._key import Key
from ._operator import Operator, Operators, tag_bits

_KINDS = ("free", "def", "fragment", "impl")
_DUPLICATES = ("default", "stack", "refuse", "replace")


def _number(word, words, what):
    if word not in words:
        raise ValueError(f"{word!r} is no {what}: {', '.join(words)}")
    return words.index(word)


def _place(depth):
    """The file and line of the caller's caller, for texts."""
    frame = sys._getframe(depth + 1)
    return frame.f_code.co_filename, frame.f_lineno


def _name(op):
    return op.name if isinstance(op, Operator) else op


class Handle:
    """Something that is taken back."""

    def __init__(self, number, remove):
        self.number = number
        self._remove = remove

    def remove(self):
        if self._remove is not None:
            self._remove(self.number)
            self._remove = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()

    def __repr__(self):
        return f"<keyway.{type(self).__name__} {self.number}>"


class Registration(Handle):
    """One registration of a library."""

    def __init__(self, number, library):
        super().__init__(number, lambda number: library._remove(number, None))
        self.library = library


class Dispatcher(_keyway.Dispatcher):
    """A name space of operators."""

    def __new__(cls, *, bare=False, duplicates="default"):
        number = _number(duplicates, _DUPLICATES, "policy for duplicates")
        return super().__new__(cls, bare=bare, duplicates=number)

    @property
    def ops(self):
        try:
            return self.__dict__["ops"]
        except KeyError:
            return self.__dict__.setdefault("ops", Operators(self))

    def transaction(self):
        return Transaction(self)

    def listen(self, callback, *, lint=False):
        return Handle(self._listen(callback, lint), self._unlisten)

    def observe(self, start=None, end=None, *, only=(), exclude=(), probability=0.0, inputs=False,
                outputs=False, this_thread=False):
        number = self._observe(start, end, tuple(only), tuple(exclude), probability, inputs,
                               outputs, this_thread)
        return Handle(number, self._unobserve)

    def load_plugin(self, path, *, copy_folder=None, keep_mapped=False, share_unique=False):
        from ._plugin import Plugin

        return Plugin(self, path, copy_folder, keep_mapped, share_unique)


class Library(_keyway.Library):
    """The owner of registrations. Without other references it closes itself."""

    def __new__(cls, ns=None, kind="free", key=None, *, dispatcher=None, name=None, ns_as=None,
                drain_timeout=10.0):
        if dispatcher is None:
            import keyway

            dispatcher = keyway.default
        file, line = _place(1)
        number = Key("Undefined" if key is None else key)
        self = super().__new__(cls, dispatcher, ns, _number(kind, _KINDS, "kind of library"),
                               int(number), name, ns_as, file, line)
        self.drain_timeout = drain_timeout
        return self

    def define(self, schema, /, *, tags=()):
        return Registration(self._define(schema, tag_bits(tags), *_place(1), None), self)

    def impl(self, op, key=None, function=None, /, *, with_keyset=False, with_op=False, schema=None,
             priority=0, duplicates="default"):
        def register(function):
            number = self._impl(_name(op), key, function, with_keyset, with_op, schema, priority,
                                _number(duplicates, _DUPLICATES, "policy for duplicates"), None)
            return Registration(number, self)

        return _now_or_later(register, function)

    def fallback(self, key=None, function=None, /, *, with_keyset=False):
        def register(function):
            return Registration(self._fallback(key, function, with_keyset, None), self)

        return _now_or_later(register, function)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
        self.drain(self.drain_timeout)
        self.destroy()


def _now_or_later(register, function):
    if function is not None:
        return register(function)

    def decorate(function):
        register(function)
        return function

    return decorate


class Transaction(_keyway.Transaction):
    """Changes that become visible at one instant."""

    def define(self, library, schema, /, *, tags=()):
        return Registration(library._define(schema, tag_bits(tags), *_place(1), self), library)

    def impl(self, library, op, key, function, /, *, with_keyset=False, with_op=False, schema=None,
             priority=0, duplicates="default"):
        number = library._impl(_name(op), key, function, with_keyset, with_op, schema, priority,
                               _number(duplicates, _DUPLICATES, "policy for duplicates"), self)
        return Registration(number, library)

    def fallback(self, library, key, function, /, *, with_keyset=False):
        return Registration(library._fallback(key, function, with_keyset, self), library)

    def remove(self, registration, /):
        registration.library._remove(registration.number, self)

    def close(self, library, /):
        library._close_in(self)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, traceback):
        if self._ended:
            return
        if exc_type is None:
            self.commit()
        else:
            self.abort()
