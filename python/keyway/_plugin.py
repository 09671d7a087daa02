# Plugins, as programs see them.
#
# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

from . import _keyway
from ._error import Error


class Plugin(_keyway.Plugin):
    """A lease of a loaded plugin. Without other references it gives the lease back."""

    @property
    def name(self):
        return self.info().name

    @property
    def version(self):
        return self.info().version

    @property
    def state(self):
        try:
            return self.info().state
        except Error:
            return "gone"

    def replace(self, path, *, drain=0.0, keep_previous=False, copy_folder=None,
                keep_mapped=False):
        self._replace(path, drain, keep_previous, copy_folder, keep_mapped)

    def rollback(self, *, drain=0.0, keep_previous=False):
        self._replace(None, drain, keep_previous, None, False)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.unload()


def inspect_plugin(path, /):
    """What a shared object would register, without registering it."""
    info, *items = _keyway._inspect_plugin(path)
    return info, items
