# Taking over operators: modes, and the blocks that switch handlers on and off.
#
# Layer:   python
# Threads: modes and blocks belong to the thread that entered them.
# SPDX-License-Identifier: MIT

from . import _keyway
from ._local import exclude


class DispatchMode:
    """Intercepts every operator that the thread calls, from __enter__ to __exit__.

    Its method runs with the mode off; what it calls there reaches the mode below, if any.
    """

    def __kw_dispatch__(self, op, types, args=(), kwargs=None):
        raise NotImplementedError(f"{type(self).__name__} has no __kw_dispatch__")

    def __enter__(self):
        _keyway._mode_push(self)
        return self

    def __exit__(self, *exc):
        _keyway._mode_pop(self)


def no_python_dispatch():
    """Switches modes and the handlers of subclasses off, for what the thread calls in the block."""
    return exclude("Python", "PythonTLSSnapshot")


class _PythonDispatcher:
    """A block in which a function of Python's resolves what the thread calls."""

    def __init__(self, resolver):
        self._resolver = resolver
        self._blocks = []

    def __enter__(self):
        self._blocks.append(_keyway._python_dispatcher_enable(self._resolver))
        return self

    def __exit__(self, *exc):
        _keyway._python_dispatcher_restore(self._blocks.pop())


def python_dispatcher(resolver=None):
    """Lets `resolver(op, keys, args, kwargs)` have every call of the thread, through the key PythonDispatcher.

    The resolver finds the kernel for the keys and calls it. Without one, resolve() does.
    """
    return _PythonDispatcher(resolve if resolver is None else resolver)


def resolve(op, keys, args, kwargs):
    """Resolves a call as the dispatcher would: runs the kernel of the highest key.

    The kernel gets the key PythonDispatcher too, so that its redispatches come back to the resolver.
    """
    return op.computed_kernel(keys.highest)(keys | "PythonDispatcher", *args, **kwargs)
