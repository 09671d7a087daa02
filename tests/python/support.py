# What the tests of the Python package share: C helpers, by ctypes, and a program's end.
#
# Layer:   test
# Threads: any.
# SPDX-License-Identifier: MIT

import ctypes
import os
import pathlib
import sys
import unittest

OBJECTS = pathlib.Path(os.environ["PYTHON_TEST_OBJECTS"])
STEP = 1000000  # results are argument * STEP + number of the kernel


def plugin(value):
    return str(OBJECTS / f"python_plugin_{value}.so")


class _Helper:
    """helper.c; ctypes calls it without the GIL."""

    def __init__(self):
        library = ctypes.CDLL(str(OBJECTS / "python_helper.so"))
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        number = ctypes.c_int64

        def declare(name, result, *arguments):
            function = getattr(library, f"helper_{name}")
            function.restype = result
            function.argtypes = arguments
            return function

        self._call = declare("call", ctypes.c_int32, pointer, number, ctypes.POINTER(number),
                             ctypes.c_char_p, ctypes.c_size_t)
        self._layer = declare("layer", pointer, pointer, text, pointer, ctypes.c_int)
        self._plain = declare("plain", pointer, pointer, text)
        self._mul = declare("mul", pointer, pointer, text)
        self._storm = declare("storm", number, pointer, number, number)
        self._background = declare("background", ctypes.c_int, pointer, ctypes.c_int)
        self.background_count = declare("background_count", number)
        self.library_end = declare("library_end", ctypes.c_int, pointer)
        self.other_tensors = declare("other_tensors", ctypes.c_int)
        self.release_elsewhere = declare("release_elsewhere", ctypes.c_int, pointer)
        self.retain = declare("retain", None, pointer)

    PASS, FAIL, FORGIVE = range(3)

    def call(self, op, argument):
        """Calls `op(int) -> int` from C: (status, result or text)."""
        result = ctypes.c_int64()
        text = ctypes.create_string_buffer(2048)
        status = self._call(op.address, argument, ctypes.byref(result), text, len(text))
        return status, text.value.decode() if status else result.value

    def layer(self, dispatcher, schema, inner, mode=PASS):
        return self._layer(dispatcher.address, schema.encode(), inner.address, mode)

    def plain(self, dispatcher, schema):
        return self._plain(dispatcher.address, schema.encode())

    def mul(self, dispatcher, schema):
        return self._mul(dispatcher.address, schema.encode())

    def storm(self, op, threads, calls):
        return self._storm(op.address, threads, calls)

    def background(self, op, threads):
        return self._background(op.address, threads)


_helper = None


def helper():
    global _helper
    if _helper is None:
        _helper = _Helper()
    return _helper


def numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def main():
    """Runs the tests of the calling file. One that finds none has failed."""
    program = unittest.main(exit=False)
    if program.result.testsRun == 0:
        sys.exit("no test was run")
    sys.exit(0 if program.result.wasSuccessful() else 1)
