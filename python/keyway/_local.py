# Guards of the calling thread's include and exclude sets.
#
# Layer:   python
# Threads: a guard is left on the thread that entered it.
# SPDX-License-Identifier: MIT

from . import _keyway
from ._key import KeySet

# The numbers are those of guard_kind in src/python/local.c.
_INCLUDE, _EXCLUDE, _FORCE, _BELOW_AUTOGRAD, _BELOW_VIEW, _INFERENCE, _NO_INFERENCE = range(7)


def _keys(keys):
    return KeySet(keys[0] if len(keys) == 1 else keys)


def include(*keys):
    """Adds keys to the thread's include set."""
    return _keyway.Guard(_INCLUDE, _keys(keys), ())


def exclude(*keys):
    """Adds keys to the thread's exclude set."""
    return _keyway.Guard(_EXCLUDE, (), _keys(keys))


def force(included, excluded):
    """Sets both sets of the thread exactly."""
    return _keyway.Guard(_FORCE, included, excluded)


def below_autograd():
    """Excludes every autograd key."""
    return _keyway.Guard(_BELOW_AUTOGRAD, (), ())


def below_view():
    """Excludes every autograd key and ADInplaceOrView."""
    return _keyway.Guard(_BELOW_VIEW, (), ())


def inference_mode(enabled=True):
    """Switches inference mode on, or off inside it."""
    return _keyway.Guard(_INFERENCE if enabled else _NO_INFERENCE, (), ())


def snapshot():
    """A snapshot of the newest version, for a with statement."""
    return _keyway.Snapshot()
