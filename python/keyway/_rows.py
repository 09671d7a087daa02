# Rows: what C code fills in, as tuples with names.
#
# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

import typing

from ._key import Key, KeySet


class Argument(typing.NamedTuple):
    name: str
    type: str
    default: str | None
    keyword_only: bool
    written: bool


class TableRow(typing.NamedTuple):
    key: Key
    registered: Key
    kernel: str
    library: str | None
    file: str
    line: int
    is_fallthrough: bool
    rule: str
    reason: str
    sentence: str


class RegistrationRow(typing.NamedTuple):
    registration: int
    is_definition: bool
    is_active: bool
    key: Key
    kind: str
    name: str
    library: str | None
    file: str
    line: int
    priority: int


class Event(typing.NamedTuple):
    kind: str
    key: Key
    version: int
    op: str | None
    previous: str | None
    current: str | None
    previous_registration: int
    current_registration: int


class Observation(typing.NamedTuple):
    name: str
    keys: KeySet
    args: tuple | None
    returns: tuple | None
    status: int


class PluginInfo(typing.NamedTuple):
    name: str
    version: str
    path: str
    state: str
    lease_count: int
    is_pinned: bool
    can_roll_back: bool
    build_id: str
    registration_count: int
    object_count: int
    held_by: str
    retained: str


class PluginItem(typing.NamedTuple):
    kind: str
    op: str
    schema: str
    kernel: str
    key: Key
    c_signature: str
