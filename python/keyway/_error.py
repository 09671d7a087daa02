# Errors: one class for each sort of status, and how C code makes them.
#
# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

from . import _keyway

__all__ = [
    "AlreadyDefined", "Busy", "CallError", "DuplicateKernel", "Error", "InvalidArgument",
    "KernelFailed", "LibraryClosed", "MalformedSchema", "NoKernel", "NotFound", "NotSupported",
    "OperatorRemoved", "OutOfMemory", "PluginError", "RegistrationError", "UnknownKey",
    "WouldWaitForSelf", "WrongOrder", "WrongValue",
]


class Error(Exception):
    """What the library answers with another status than KW_OK."""

    def __init__(self, status, text="", position=None):
        super().__init__(text or _keyway._status_message(status))
        self.status = status
        self.name = _keyway._status_name(status)
        self.text = str(self)
        self.position = position

    @property
    def chain(self):
        """The operators that a failure of a call came through, innermost first."""
        _, _, operators = self.text.rpartition("; in `")
        return tuple(operators.rstrip("`").split("`, in `")) if operators.endswith("`") else ()

    def __reduce__(self):
        return type(self), (self.status, self.text, self.position)


class InvalidArgument(Error, ValueError):
    pass


class OutOfMemory(Error, MemoryError):
    pass


class Busy(Error):
    pass


class WouldWaitForSelf(Error):
    pass


class NotFound(Error, LookupError):
    pass


class NotSupported(Error):
    pass


class WrongOrder(Error):
    pass


class CallError(Error):
    pass


class NoKernel(CallError):
    pass


class OperatorRemoved(CallError):
    pass


class WrongValue(CallError, TypeError):
    pass


class KernelFailed(CallError):
    pass


class RegistrationError(Error):
    pass


class MalformedSchema(RegistrationError, ValueError):
    pass


class UnknownKey(RegistrationError, ValueError):
    pass


class AlreadyDefined(RegistrationError):
    pass


class LibraryClosed(RegistrationError):
    pass


class DuplicateKernel(RegistrationError):
    pass


class PluginError(Error):
    pass


_CLASSES = {
    "KW_INVALID_ARGUMENT": InvalidArgument,
    "KW_NO_MEMORY": OutOfMemory,
    "KW_BUSY": Busy,
    "KW_WOULD_WAIT_FOR_SELF": WouldWaitForSelf,
    "KW_NOT_FOUND": NotFound,
    "KW_NOT_SUPPORTED": NotSupported,
    "KW_WRONG_ORDER": WrongOrder,
    "KW_OTHER_VERSION": WrongOrder,
    "KW_BACKLOG_FULL": Busy,
    "KW_OPERATOR_REMOVED": OperatorRemoved,
    "KW_OPERATOR_UNDEFINED": OperatorRemoved,
    "KW_NO_KERNEL": NoKernel,
    "KW_NO_KERNEL_FOR_KEY": NoKernel,
    "KW_NO_TENSOR_ARGUMENTS": NoKernel,
    "KW_AMBIGUOUS": NoKernel,
    "KW_FALLTHROUGH_REACHED": NoKernel,
    "KW_KERNEL_GONE": NoKernel,
    "KW_WRONG_VALUE": WrongValue,
    "KW_SYMBOLIC_VALUE": WrongValue,
    "KW_KERNEL_FAILED": KernelFailed,
    "KW_MALFORMED_NAME": MalformedSchema,
    "KW_MALFORMED_SCHEMA": MalformedSchema,
    "KW_BAD_OVERLOAD": MalformedSchema,
    "KW_TOO_MANY_ARGUMENTS": MalformedSchema,
    "KW_SCHEMA_EXPECTED": MalformedSchema,
    "KW_NAME_EXPECTED": MalformedSchema,
    "KW_UNKNOWN_KEY": UnknownKey,
    "KW_ALREADY_DEFINED": AlreadyDefined,
    "KW_CONFLICTING_SCHEMA": AlreadyDefined,
    "KW_NAMESPACE_TAKEN": AlreadyDefined,
    "KW_LIBRARY_CLOSED": LibraryClosed,
    "KW_DUPLICATE_KERNEL": DuplicateKernel,
    "KW_DUPLICATE_FALLBACK": DuplicateKernel,
}


def _class_of(status):
    name = _keyway._status_name(status)
    if name in _CLASSES:
        return _CLASSES[name]
    # By the groups of numbers in keyway/status.h.
    if 20 <= status < 40 or status >= 1000:
        return CallError
    if 40 <= status < 90:
        return RegistrationError
    return PluginError if 90 <= status < 100 else Error


def make_error(status, text, position):
    return _class_of(status)(status, text, position)
