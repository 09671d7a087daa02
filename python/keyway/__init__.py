"""Operator dispatch whose kernels can be replaced and unloaded while calls run.

The C library Keyway for Python: docs/python.md of the project has the whole story.
"""

# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

import atexit as _atexit

from . import _keyway
from ._dispatch import DispatchMode, no_python_dispatch, python_dispatcher, resolve
from ._dtype import Device, DType, Layout, MemoryFormat
from ._error import *  # noqa: F403
from ._error import make_error as _make_error
from ._key import Key, KeySet
from ._keyway import (
    Generator, Guard, KernelHandle, Object, Schema, SharedSnapshot, Snapshot, Tensor, __version__,
    asarray, backlog_limits, claim_backend, current_modes, empty, from_buffer, from_dlpack, is_excluded,
    is_included, local_sets, plugins, reap_plugins, reclaim, rename_backend, startup, statistics,
    undefined, version,
)
from ._library import Dispatcher, Handle, Library, Registration, Transaction
from ._local import below_autograd, below_view, exclude, force, include, inference_mode, snapshot
from ._operator import Operator, OperatorNamespace, OperatorPacket, Operators
from ._plugin import Plugin, inspect_plugin
from ._rows import (
    Argument, Event, Observation, PluginInfo, PluginItem, RegistrationRow, TableRow,
)


class Fallthrough:
    """The type of `fallthrough`, a kernel that lets the call go on to the next key."""

    def __repr__(self):
        return "keyway.fallthrough"


fallthrough = Fallthrough()

_keyway._bind(
    make_error=_make_error, Error=Error, Key=Key, dtypes=tuple(DType), layouts=tuple(Layout),
    memory_formats=tuple(MemoryFormat), Device=Device, fallthrough=fallthrough, Argument=Argument,
    TableRow=TableRow, RegistrationRow=RegistrationRow, Event=Event, Observation=Observation,
    PluginInfo=PluginInfo, PluginItem=PluginItem, resolve=resolve,
)
globals().update(DType.__members__)

# Before Python goes down no call may reach a kernel of it any more.
_atexit.register(_keyway._end)
_atexit.register(_keyway._disarm)


def __getattr__(name):
    # The process's dispatcher is made when somebody asks for it.
    if name == "default":
        return globals().setdefault("default", Dispatcher._default())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
