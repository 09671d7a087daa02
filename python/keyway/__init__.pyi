# The types of the package keyway: what Python programs may use, and the contract of its parts.
#
# Layer:   python
# Threads: objects may be used from any thread. A guard, a mode and a snapshot belong to the thread
#          that entered them.
# SPDX-License-Identifier: MIT

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T", bound=Tensor)

__version__: str

# Errors ---------------------------------------------------------------------------------------

class Error(Exception):
    """What the library answers with another status than KW_OK.

    An exception that a Python function raises inside a kernel is not turned into one of these: it
    travels through the C layers and comes out as the same object, with the operators that it
    passed through as a note.
    """

    status: int
    name: str  # such as "KW_NOT_FOUND"
    text: str  # one sentence, with the chain of operators it came through
    position: int | None  # the byte of a parsed text that is wrong
    @property
    def chain(self) -> tuple[str, ...]: ...  # the operators it came through, innermost first
    def __init__(self, status: int, text: str = ..., position: int | None = ...) -> None: ...

class InvalidArgument(Error, ValueError): ...
class OutOfMemory(Error, MemoryError): ...
class Busy(Error): ...  # something still uses it; the text says what
class WouldWaitForSelf(Error): ...
class NotFound(Error, LookupError): ...
class NotSupported(Error): ...
class WrongOrder(Error): ...  # closed or restored out of order; another version is pinned
class CallError(Error): ...  # a call that reached no kernel, or whose kernel failed
class NoKernel(CallError): ...  # nothing serves the keys of the call
class OperatorRemoved(CallError): ...
class WrongValue(CallError, TypeError): ...
class KernelFailed(CallError): ...
class RegistrationError(Error): ...
class MalformedSchema(RegistrationError, ValueError): ...  # or a malformed name
class UnknownKey(RegistrationError, ValueError): ...
class AlreadyDefined(RegistrationError): ...
class LibraryClosed(RegistrationError): ...
class DuplicateKernel(RegistrationError): ...
class PluginError(Error): ...

# Keys -----------------------------------------------------------------------------------------

class Key(int):
    """One dispatch key. Equal to its number; `Key("CPU")` and `Key(50)` are the same."""

    def __new__(cls, key: str | int) -> Key: ...
    @property
    def name(self) -> str: ...
    @property
    def is_alias(self) -> bool: ...
    @property
    def is_runtime(self) -> bool: ...  # a call can select it
    @property
    def functionality(self) -> Key: ...
    @property
    def backend(self) -> str | None: ...
    def __or__(self, other: KeySet | Key) -> KeySet: ...  # type: ignore[override]

class KeySet:
    """A set of keys, immutable. Made of keys, names, a text as `repr` writes it, or bits."""

    def __init__(self, keys: KeysLike = ..., /, *, bits: int | None = ...) -> None: ...
    @property
    def bits(self) -> int: ...
    @property
    def highest(self) -> Key: ...  # what a call with this set selects; Undefined if there is none
    @property
    def backends(self) -> tuple[str, ...]: ...
    def add(self, keys: KeysLike, /) -> KeySet: ...  # also |
    def remove(self, keys: KeysLike, /) -> KeySet: ...  # also -; backends stay
    def remove_backend(self, backend: str, /) -> KeySet: ...
    def issubset(self, other: KeysLike, /) -> bool: ...  # also <=
    def isdisjoint(self, other: KeysLike, /) -> bool: ...
    @staticmethod
    def full() -> KeySet: ...
    @staticmethod
    # What a kernel of the key leaves for a redispatch.
    def full_after(key: KeyLike, /) -> KeySet: ...
    @staticmethod
    # The runtime keys that a registration under it concerns.
    def of_alias(key: KeyLike, /) -> KeySet: ...
    def __or__(self, other: KeysLike) -> KeySet: ...
    def __and__(self, other: KeysLike) -> KeySet: ...
    def __xor__(self, other: KeysLike) -> KeySet: ...
    def __sub__(self, other: KeysLike) -> KeySet: ...
    def __le__(self, other: KeySet) -> bool: ...
    def __contains__(self, key: KeyLike) -> bool: ...
    def __iter__(self) -> Iterator[Key]: ...  # lowest first
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __hash__(self) -> int: ...

KeyLike = Key | str | int
KeysLike = KeySet | Key | str | Iterable[KeyLike]

# Of PrivateUse1..3, once for the process.
def rename_backend(backend: str, name: str, /) -> None: ...
def claim_backend(name: str, /) -> str: ...  # gives a PrivateUse backend this name, and returns it

# Element types, layouts, devices ----------------------------------------------------------------

class DType(enum.IntEnum):
    """Element types with PyTorch's numbers; each is also a name of the module: `kw.float32`."""

    uint8 = 0
    int8 = 1
    int16 = 2
    int32 = 3
    int64 = 4
    float16 = 5
    float32 = 6
    float64 = 7
    complex32 = 8
    complex64 = 9
    complex128 = 10
    bool = 11
    qint8 = 12
    quint8 = 13
    qint32 = 14
    bfloat16 = 15
    quint4x2 = 16
    quint2x4 = 17
    bits1x8 = 18
    bits2x4 = 19
    bits4x2 = 20
    bits8 = 21
    bits16 = 22
    float8_e5m2 = 23
    float8_e4m3fn = 24
    float8_e5m2fnuz = 25
    float8_e4m3fnuz = 26
    uint16 = 27
    uint32 = 28
    uint64 = 29
    @property
    def itemsize(self) -> int: ...

class Layout(enum.IntEnum):
    strided = 0
    sparse = 1
    sparse_csr = 2
    mkldnn = 3
    sparse_csc = 4
    sparse_bsr = 5
    sparse_bsc = 6
    jagged = 7

class MemoryFormat(enum.IntEnum):
    contiguous = 0
    preserve = 1
    channels_last = 2
    channels_last_3d = 3

class Device(NamedTuple):
    """A device: `Device("cuda:1")`, `Device("cpu")`, or numbers. Index -1 is the current one."""

    type: int
    index: int = ...  # type: ignore[assignment]
    @property
    def type_name(self) -> str: ...

DTypeLike = DType | str | int | Any  # Any: something with a `name`, as NumPy's types have
DeviceLike = Device | str | tuple[int, int]

# Tensors ----------------------------------------------------------------------------------------

class Tensor:
    """A reference tensor: metadata over shared memory.

    Two are equal if they stand for the same one.

    A subclass that has `__kw_dispatch__` takes over the operators that are called with its
    instances; see `Tensor.__kw_dispatch__`.
    """

    # Never called for plain tensors. `op` is the operator; `types` the classes of the arguments
    # that have the method; super().__kw_dispatch__ goes below with this class switched off.
    @classmethod
    def __kw_dispatch__(cls, op: Operator, types: tuple[type, ...], args: tuple[Any, ...] = ...,
                        kwargs: dict[str, Any] | None = ...) -> Any: ...

    # An instance of the class for a tensor of its own with the same storage, shape and keys, plus
    # Python and PythonTLSSnapshot.
    @classmethod
    def make_subclass(cls: type[_T], tensor: Tensor, /) -> _T: ...
    # An instance with metadata only: no storage.
    @classmethod
    def make_wrapper(cls: type[_T], shape: Sequence[int], *, strides: Sequence[int] | None = ...,
                     dtype: DTypeLike = ..., device: DeviceLike = ..., layout: int = ...) -> _T: ...

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...  # in elements
    @property
    def storage_offset(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...  # elements
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def device(self) -> Device: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def keys(self) -> KeySet: ...
    @property
    def version(self) -> int: ...  # writes in place so far
    @property
    def data_ptr(self) -> int: ...  # 0 without memory
    @property
    def address(self) -> int: ...  # of the C tensor
    @property
    def readonly(self) -> bool: ...
    @property
    def is_view(self) -> bool: ...
    @property
    def is_inference(self) -> bool: ...
    @property
    def use_count(self) -> int: ...
    @property
    def T(self) -> Tensor: ...
    def is_contiguous(self, memory_format: int = ...) -> bool: ...
    def shares_storage(self, other: Tensor, /) -> bool: ...
    def bump_version(self) -> None: ...
    def change_keys(self, add: KeysLike = ..., remove: KeysLike = ...) -> None: ...

    # Views: same storage, same version.
    def alias(self) -> Tensor: ...
    def detach(self) -> Tensor: ...
    def view(self, *shape: Any) -> Tensor: ...
    def reshape(self, *shape: Any) -> Tensor: ...  # a copy where a view cannot be had
    def select(self, dim: int, index: int, /) -> Tensor: ...
    def slice(self, dim: int, start: int = ..., end: int | None = ...,
              step: int = ...) -> Tensor: ...
    def narrow(self, dim: int, start: int, length: int, /) -> Tensor: ...
    def transpose(self, dim0: int, dim1: int, /) -> Tensor: ...
    def permute(self, *dims: Any) -> Tensor: ...
    def expand(self, *shape: Any) -> Tensor: ...
    def squeeze(self, dim: int, /) -> Tensor: ...
    def unsqueeze(self, dim: int, /) -> Tensor: ...
    def as_strided(self, shape: Sequence[int], strides: Sequence[int],
                   storage_offset: int = ..., /) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor: ...  # integers, slices, None and Ellipsis
    def __setitem__(self, index: Any, value: Any) -> None: ...

    # Copies.
    def clone(self, memory_format: int = ...) -> Tensor: ...
    def contiguous(self, memory_format: int = ...) -> Tensor: ...
    def copy_(self, source: Any, /) -> Tensor: ...
    def resize_(self, *shape: Any) -> Tensor: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...

    # Exchange without a copy. The buffer protocol gives CPU tensors to memoryview and NumPy.
    def __dlpack__(self, *, stream: Any = ..., max_version: tuple[int, int] | None = ...,
                   dl_device: tuple[int, int] | None = ..., copy: bool | None = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...

def empty(shape: Sequence[int] | int, *, dtype: DTypeLike = ..., device: DeviceLike = ...,
          strides: Sequence[int] | None = ..., layout: int = ..., inference: bool | None = ...,
          keys: KeysLike | None = ...) -> Tensor: ...
def from_dlpack(source: Any, /) -> Tensor: ...  # an object with __dlpack__, or a capsule
def from_buffer(source: Any, /) -> Tensor: ...  # of the buffer protocol, read-only ones too
def asarray(source: Any, /) -> Tensor: ...  # a tensor, __dlpack__, or a buffer; never a copy
def undefined() -> Tensor: ...

class Object:
    """A counted object of C code, as an opaque value. Python's own objects pass as themselves."""

    @property
    def type_name(self) -> str: ...

class Generator:
    """Stands for a random number generator: what C kernels see is its address."""

    def __init__(self, value: Any = ...) -> None: ...
    @property
    def value(self) -> Any: ...

# Operators ----------------------------------------------------------------------------------------

class Argument(NamedTuple):
    name: str
    type: str
    default: str | None
    keyword_only: bool
    written: bool

class Schema:
    """A declaration, parsed."""

    def __init__(self, text: str) -> None: ...
    @property
    def name(self) -> str: ...  # "ns::name.overload"
    @property
    def args(self) -> tuple[Argument, ...]: ...
    @property
    def returns(self) -> tuple[Argument, ...]: ...
    @property
    def c_signature(self) -> str: ...
    def default(self, index: int, /) -> Any: ...

class TableRow(NamedTuple):
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

class RegistrationRow(NamedTuple):
    registration: int
    is_definition: bool
    is_active: bool
    key: Key
    kind: Literal["definition", "unboxed", "boxed", "fallthrough"]
    name: str
    library: str | None
    file: str
    line: int
    priority: int

class Operator:
    """One overload of an operator. The same object for the same name of a dispatcher."""

    @property
    def name(self) -> str: ...  # "ns::name.overload"
    @property
    def dispatcher(self) -> Dispatcher: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def address(self) -> int: ...  # of the C handle
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def redispatch(self, keys: KeysLike, /, *args: Any, **kwargs: Any) -> Any: ...
    def call_for_key(self, key: KeyLike, /, *args: Any, **kwargs: Any) -> Any: ...
    def computed_kernel(self, key: KeyLike, /) -> KernelHandle: ...
    def accepts(self, *args: Any, **kwargs: Any) -> bool: ...  # whether they fit the schema
    def has_kernel(self, key: KeyLike, /) -> bool: ...
    def has_computed_kernel(self, key: KeyLike, /) -> bool: ...
    def table(self) -> list[TableRow]: ...
    def registrations(self) -> list[RegistrationRow]: ...
    def dump(self) -> str: ...
    def dump_table(self) -> str: ...
    def explain(self, *keys: Any) -> str: ...  # which kernel these keys select, and why

class KernelHandle:
    @property
    def registration(self) -> int: ...
    def __call__(self, keys: KeysLike, /, *args: Any, **kwargs: Any) -> Any: ...

class OperatorPacket:
    """All overloads of one name. A call takes the one without a name, or the first that fits."""

    @property
    def name(self) -> str: ...  # "ns::name"
    @property
    def default(self) -> Operator: ...
    def overloads(self) -> list[str]: ...
    def table(self) -> list[TableRow]: ...  # of the default overload
    def redispatch(self, keys: KeysLike, /, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, overload: str) -> Operator: ...

class OperatorNamespace:
    def __getattr__(self, name: str) -> OperatorPacket: ...

class Operators:
    def __getattr__(self, ns: str) -> OperatorNamespace: ...

# Dispatchers, libraries, transactions -----------------------------------------------------------

class Event(NamedTuple):
    kind: str  # "defined", "undefined", "kernel", "fallback", "replaced", ...
    key: Key
    version: int
    op: str | None
    previous: str | None
    current: str | None
    previous_registration: int
    current_registration: int

class Handle:
    """Something that is taken back: a registration, a listener, an observer."""

    number: int
    def remove(self) -> None: ...
    def __enter__(self) -> Handle: ...
    def __exit__(self, *exc: Any) -> None: ...

class Registration(Handle):
    library: Library

class Dispatcher:
    """A name space of operators. It ends with its last reference, operators' and libraries' too."""

    def __init__(self, *, bare: bool = ...,
                 duplicates: Literal["default", "stack", "refuse", "replace"] = ...) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def ops(self) -> Operators: ...
    def operator(self, name: str, /) -> Operator: ...  # NotFound
    def wait(self, name: str, timeout: float | None = ..., /) -> Operator: ...
    def operators(self, *, key: KeyLike | None = ..., dangling: bool = ...) -> list[str]: ...
    def transaction(self) -> Transaction: ...
    def listen(self, callback: Callable[[Event], Any], *, lint: bool = ...) -> Handle: ...
    def observe(self, start: Callable[[Observation], Any] | None = ...,
                end: Callable[[Observation, Any], Any] | None = ..., *, only: Sequence[str] = ...,
                exclude: Sequence[str] = ..., probability: float = ..., inputs: bool = ...,
                outputs: bool = ..., this_thread: bool = ...) -> Handle: ...
    def load_plugin(self, path: str, *, copy_folder: str | None = ..., keep_mapped: bool = ...,
                    share_unique: bool = ...) -> Plugin: ...

class Observation(NamedTuple):
    name: str
    keys: KeySet
    args: tuple[Any, ...] | None
    returns: tuple[Any, ...] | None
    status: int

default: Dispatcher  # of the process

class Fallthrough:
    """The type of `fallthrough`."""

fallthrough: Fallthrough

class Library:
    """The owner of registrations. Without other references it closes itself: keep it."""

    def __init__(self, ns: str | None = ..., kind: Literal["free", "def", "fragment", "impl"] = ...,
                 key: KeyLike | None = ..., *, dispatcher: Dispatcher | None = ...,
                 name: str | None = ..., ns_as: str | None = ...,
                 drain_timeout: float | None = ...) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def dispatcher(self) -> Dispatcher: ...
    @property
    def closed(self) -> bool: ...
    def define(self, schema: str, /, *, tags: Iterable[str] = ...) -> Registration: ...
    # With a function it registers it and returns the handle of the registration; without one it is
    # a decorator that gives the function back. The function gets the arguments in the order of the
    # schema, keyword-only ones by name; with_keyset puts the key set, with_op the operator first.
    @overload
    def impl(self, op: str | Operator, key: KeyLike | None,
             function: Callable[..., Any] | Fallthrough, /, *, with_keyset: bool = ...,
             with_op: bool = ..., schema: str | None = ..., priority: int = ...,
             duplicates: str = ...) -> Registration: ...
    @overload
    def impl(self, op: str | Operator, key: KeyLike | None = ..., /, *, with_keyset: bool = ...,
             with_op: bool = ..., schema: str | None = ..., priority: int = ...,
             duplicates: str = ...) -> Callable[[_F], _F]: ...
    # A fallback serves every operator: it gets (op, *args, **kwargs), with_keyset the keys first.
    @overload
    def fallback(self, key: KeyLike | None, function: Callable[..., Any] | Fallthrough, /, *,
                 with_keyset: bool = ...) -> Registration: ...
    @overload
    def fallback(self, key: KeyLike | None = ..., /, *,
                 with_keyset: bool = ...) -> Callable[[_F], _F]: ...
    def close(self) -> None: ...
    def drain(self, timeout: float | None = ..., /) -> None: ...  # seconds; None: for ever; Busy
    def destroy(self) -> None: ...
    def holders(self) -> list[str]: ...
    def __enter__(self) -> Library: ...
    def __exit__(self, *exc: Any) -> None: ...  # closes, drains for drain_timeout, destroys

class Transaction:
    """Changes that become visible at one instant.

    Leaving the block commits, or aborts on an exception.
    """

    def define(self, library: Library, schema: str, /, *,
               tags: Iterable[str] = ...) -> Registration: ...
    def impl(self, library: Library, op: str | Operator, key: KeyLike | None,
             function: Callable[..., Any] | Fallthrough, /, *, with_keyset: bool = ...,
             with_op: bool = ..., schema: str | None = ..., priority: int = ...,
             duplicates: str = ...) -> Registration: ...
    def fallback(self, library: Library, key: KeyLike | None,
                 function: Callable[..., Any] | Fallthrough, /, *,
                 with_keyset: bool = ...) -> Registration: ...
    def remove(self, registration: Registration, /) -> None: ...
    def close(self, library: Library, /) -> None: ...
    def commit(self, *, defer_reclaim: bool = ...) -> int: ...  # the version
    def abort(self) -> None: ...
    def __enter__(self) -> Transaction: ...
    def __exit__(self, *exc: Any) -> None: ...

# Plugins ----------------------------------------------------------------------------------------

class PluginInfo(NamedTuple):
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

class PluginItem(NamedTuple):
    kind: Literal["define", "kernel", "fallback"]
    op: str
    schema: str
    kernel: str
    key: Key
    c_signature: str

class Plugin:
    """A lease of a loaded plugin. Without other references it gives the lease back."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def state(self) -> str: ...  # "serving", "draining", ..., "gone"
    def info(self) -> PluginInfo: ...
    def replace(self, path: str, *, drain: float = ..., keep_previous: bool = ...,
                copy_folder: str | None = ..., keep_mapped: bool = ...) -> None: ...
    def rollback(self, *, drain: float = ..., keep_previous: bool = ...) -> None: ...
    def unload(self, timeout: float | None = ..., /) -> None: ...
    def pin(self) -> None: ...
    def self_test(self, op: str, /) -> None: ...
    def __enter__(self) -> Plugin: ...
    def __exit__(self, *exc: Any) -> None: ...

def plugins() -> list[PluginInfo]: ...
def reap_plugins(timeout: float = ..., /) -> None: ...
def inspect_plugin(path: str, /) -> tuple[PluginInfo, list[PluginItem]]: ...

# Snapshots, local sets, the process --------------------------------------------------------------

class Guard:
    """A state of the calling thread, from __enter__ to __exit__; may be entered again."""

    def __enter__(self) -> Any: ...
    def __exit__(self, exc_type: type[BaseException] | None, exc: BaseException | None,
                 traceback: TracebackType | None) -> None: ...

class Snapshot(Guard):
    version: int | None  # while it is open
    def __enter__(self) -> Snapshot: ...
    def share(self) -> SharedSnapshot: ...

class SharedSnapshot:
    """A version that threads use together; kept as long as this object."""

    def __init__(self) -> None: ...
    @property
    def version(self) -> int: ...
    def enter(self) -> Snapshot: ...  # with shared.enter(): ...

def snapshot() -> Snapshot: ...
def include(*keys: Any) -> Guard: ...
def exclude(*keys: Any) -> Guard: ...
def force(included: KeysLike, excluded: KeysLike) -> Guard: ...
def below_autograd() -> Guard: ...
def below_view() -> Guard: ...
def inference_mode(enabled: bool = ...) -> Guard: ...
def local_sets() -> tuple[KeySet, KeySet]: ...  # included, excluded
def is_included(key: KeyLike, /) -> bool: ...
def is_excluded(key: KeyLike, /) -> bool: ...

def version() -> int: ...  # of the newest commit
def statistics() -> dict[str, int]: ...
def reclaim() -> None: ...
def startup(dispatcher: Dispatcher | None = ...) -> None: ...
def backlog_limits(**limits: float) -> dict[str, int]: ...  # sets those given, returns all

# Taking over operators ----------------------------------------------------------------------------

class DispatchMode:
    """Intercepts every operator that the thread calls, from __enter__ to __exit__.

    Its method runs with the mode off; what it calls there reaches the mode below, if any.
    """

    def __kw_dispatch__(self, op: Operator, types: tuple[type, ...], args: tuple[Any, ...] = ...,
                        kwargs: dict[str, Any] | None = ...) -> Any: ...
    def __enter__(self) -> DispatchMode: ...
    def __exit__(self, *exc: Any) -> None: ...

def no_python_dispatch() -> Guard: ...  # neither subclasses nor modes
def current_modes() -> list[DispatchMode]: ...  # of the thread, the top one last

# Lets resolver(op, keys, args, kwargs) have every call of the thread, through the key
# PythonDispatcher: it finds the kernel for the keys and calls it. Without one, resolve() does.
def python_dispatcher(
        resolver: Callable[[Operator, KeySet, tuple[Any, ...], dict[str, Any]], Any] | None = ...,
) -> AbstractContextManager[Any]: ...
def resolve(op: Operator, keys: KeySet, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
