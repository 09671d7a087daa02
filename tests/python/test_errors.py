# Errors: statuses as exceptions, and exceptions that travel through C.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import pickle
import traceback
import unittest

import keyway as kw

import support
from support import helper


class Own(Exception):
    pass


class ErrorTest(unittest.TestCase):
    def test_every_status_has_a_class_and_a_name(self):
        from keyway import _error, _keyway

        for name in _error._CLASSES:
            self.assertIn(name, [_keyway._status_name(n) for n in range(100)])
        self.assertIs(type(_error.make_error(90, "x", None)), kw.PluginError)
        self.assertIs(type(_error.make_error(64, "x", None)), kw.RegistrationError)
        self.assertIs(type(_error.make_error(27, "x", None)), kw.CallError)
        self.assertIs(type(_error.make_error(1000, "x", None)), kw.CallError)
        self.assertIs(type(_error.make_error(8, "x", None)), kw.Error)

    def test_error_has_what_the_library_said(self):
        error = kw.Error(5)
        self.assertEqual((error.status, error.name), (5, "KW_NOT_FOUND"))
        self.assertEqual(error.text, "no such name")
        self.assertIsNone(error.position)
        with self.assertRaises(kw.MalformedSchema) as caught:
            kw.Schema("f(")
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(again), again.text, again.position),
                         (kw.MalformedSchema, caught.exception.text, caught.exception.position))


class TravelTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("t", dispatcher=self.d)
        self.ends = []
        self.error = Own("from the kernel")
        self.lib.define("inner(int x) -> int")

        @self.lib.impl("inner")
        def inner(x):
            if x < 0:
                raise self.error
            return x

        self.inner = self.d.operator("t::inner")

    def tearDown(self):
        for library in self.ends:
            self.assertEqual(helper().library_end(library), 0)

    def layer(self, name, inner, mode=0):
        library = helper().layer(self.d, f"t::{name}(int x) -> int", inner, mode)
        self.assertTrue(library)
        self.ends.append(library)
        return self.d.operator(f"t::{name}")

    def test_exception_comes_out_as_the_same_object(self):
        with self.assertRaises(Own) as caught:
            self.inner(-1)
        self.assertIs(caught.exception, self.error)
        self.assertEqual(caught.exception.__notes__, ["in `t::inner`"])

    def test_exception_keeps_its_traceback(self):
        try:
            self.inner(-1)
        except Own as error:  # assertRaises would take the traceback away
            names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        self.assertEqual(names, ["test_exception_keeps_its_traceback", "inner"])

    def test_exception_passes_c_layers(self):
        outer = self.layer("outer", self.layer("middle", self.inner))
        self.assertEqual(outer(3), 3)
        with self.assertRaises(Own) as caught:
            outer(-1)
        self.assertIs(caught.exception, self.error)
        self.assertEqual(caught.exception.__notes__,
                         ["in `t::inner`, in `t::middle`, in `t::outer`"])

    def test_exception_passes_python_layers_between_c_layers(self):
        middle = self.layer("middle", self.inner)
        self.lib.define("python(int x) -> int")
        self.lib.impl("python", None, lambda x: middle(x))
        outer = self.layer("outer", self.d.operator("t::python"))
        with self.assertRaises(Own) as caught:
            outer(-1)
        self.assertIs(caught.exception, self.error)
        self.assertEqual(caught.exception.__notes__, ["in `t::inner`, in `t::middle`",
                                                      "in `t::python`, in `t::outer`"])

    def test_layer_that_fails_by_itself_is_not_taken_for_the_exception(self):
        outer = self.layer("outer", self.inner, helper().FAIL)
        with self.assertRaises(kw.KernelFailed) as caught:
            outer(-1)
        self.assertEqual(caught.exception.text, "the C layer gave up; in `t::outer`")
        self.assertEqual(caught.exception.chain, ("t::outer",))
        outermost = self.layer("outermost", outer)
        with self.assertRaises(kw.KernelFailed) as caught:
            outermost(-1)
        self.assertEqual(caught.exception.chain, ("t::outer", "t::outermost"))
        self.assertEqual(kw.Error(5, "no `name` here").chain, ())

    def test_forgiven_exception_is_forgotten(self):
        outer = self.layer("outer", self.inner, helper().FORGIVE)
        self.assertEqual(outer(-1), -1)
        import sys
        import weakref

        ref = weakref.ref(self.error)
        self.error = None
        sys.exc_info()
        self.assertIsNone(ref())

    def test_c_caller_gets_a_status_and_a_text(self):
        status, text = helper().call(self.inner, -1)
        self.assertEqual(status, kw.KernelFailed(32).status)
        self.assertEqual(text, "Own: from the kernel; in `t::inner`")
        self.assertEqual(helper().call(self.inner, 5), (0, 5))

    def test_error_of_the_library_keeps_its_status_through_a_python_kernel(self):
        self.lib.define("outer(int x) -> int")
        self.lib.define("nothing(int x) -> int")
        self.lib.impl("outer", None, lambda x: self.d.ops.t.nothing(x))
        with self.assertRaises(kw.NoKernel) as caught:
            self.d.ops.t.outer(1)
        self.assertEqual(caught.exception.name, "KW_NO_TENSOR_ARGUMENTS")
        status, text = helper().call(self.d.operator("t::outer"), 1)
        self.assertEqual(status, 24)
        self.assertTrue(text.startswith("NoKernel: "))

    def test_strange_exceptions_travel_too(self):
        class Silent(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        for error in (KeyboardInterrupt(), SystemExit(3), Silent(), Own("x" * 5000),
                      Own("ü" * 900), Own("a\0b"), Own("\ud800")):
            self.error = error
            with self.subTest(type(error)), self.assertRaises(type(error)) as caught:
                self.inner(-1)
            self.assertIs(caught.exception, error)
        self.error = MemoryError()
        self.assertEqual(helper().call(self.inner, -1)[0], 2)

    def test_endless_recursion_is_python_s_own_error(self):
        self.lib.define("deep(int x) -> int")
        self.lib.impl("deep", None, lambda x: self.d.ops.t.deep(x + 1))
        with self.assertRaises(RecursionError):
            self.d.ops.t.deep(0)
        self.assertEqual(self.inner(1), 1)


if __name__ == "__main__":
    support.main()
