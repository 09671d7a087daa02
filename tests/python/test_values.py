# Values: what each type of the schema language takes from Python and gives back.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import unittest

import keyway as kw

import support

np = support.numpy()


class ValueTest(unittest.TestCase):
    def setUp(self):
        self.dispatcher = kw.Dispatcher()
        self.library = kw.Library("v", dispatcher=self.dispatcher)
        self.count = 0
        self.seen = None

    def echo(self, type_name, default="", returned=None):
        """An operator that gives its argument back; the kernel's view of it is in self.seen."""
        self.count += 1
        name = f"echo{self.count}"
        self.library.define(f"{name}({type_name} x{default}) -> {returned or type_name}")

        @self.library.impl(name)
        def kernel(x):
            self.seen = x
            return x

        return self.dispatcher.operator(f"v::{name}")

    def both(self, type_name, *values):
        """Each value comes back as it is, of the same type."""
        op = self.echo(type_name)
        for value in values:
            with self.subTest(type_name, value=value):
                result = op(value)
                self.assertEqual(result, value)
                self.assertIs(type(result), type(value))
                self.assertEqual(self.seen, value)

    def refused(self, type_name, *values, text="expected"):
        op = self.echo(type_name)
        for value in values:
            with self.subTest(type_name, value=value):
                with self.assertRaisesRegex(TypeError, text) as caught:
                    op(value)
                self.assertIn("v::echo", str(caught.exception))
                self.assertIn("'x'", str(caught.exception))

    def test_numbers(self):
        self.both("int", 0, -1, (1 << 63) - 1, -(1 << 63))
        self.both("float", 0.5, float("inf"))
        self.both("bool", True, False)
        self.both("complex", 1 + 2j)
        self.both("SymInt", 3, -5)
        self.both("Scalar", True, 3, 2.5, 1j)
        self.both("str", "", "text", "ünïcode")
        self.assertIs(type(self.echo("float")(3)), float)
        self.assertEqual(self.echo("complex")(2), 2 + 0j)

    def test_numbers_of_the_wrong_kind_are_refused(self):
        self.refused("int", 1.0, "1", None, True, [1])
        self.refused("int", 1 << 63, text="too large|too big|int")
        self.refused("float", "1", None, True, 1j)
        self.refused("bool", 1, None, "x")
        self.refused("str", 1, None, b"x")
        self.refused("Scalar", "x", None, [1])
        self.refused("complex", "1", None)

    def test_text_with_a_zero_byte_is_refused(self):
        self.refused("str", "a\0b", text="zero byte")

    def test_names_for_numbers(self):
        self.both("ScalarType", kw.float64, kw.int8)
        self.both("Layout", kw.Layout.sparse)
        self.both("MemoryFormat", kw.MemoryFormat.channels_last)
        op = self.echo("ScalarType")
        self.assertIs(op("float32"), kw.float32)
        self.assertIs(op("double"), kw.float64)
        self.assertIs(op(6), kw.float32)
        self.assertIs(self.echo("Layout")("strided"), kw.Layout.strided)
        self.assertIs(self.echo("MemoryFormat")(2), kw.MemoryFormat.channels_last)
        self.refused("ScalarType", "nothing", 99, text="no element type|nothing")
        self.refused("MemoryFormat", "nothing", text="no memory format")

    def test_devices(self):
        self.both("Device", kw.Device("cpu"), kw.Device("cuda:1"))
        op = self.echo("Device")
        self.assertEqual(op("cuda:1"), kw.Device("cuda", 1))
        self.assertEqual(op((1, 0)), kw.Device("cuda:0"))
        self.assertEqual(str(op("meta")), "meta")
        self.refused("Device", "gpu", text="gpu")

    def test_optionals(self):
        self.both("int?", None, 3)
        self.both("str?", None, "x")
        self.both("float[]?", None, [1.5])
        self.both("Device?", None, kw.Device("cpu"))
        self.both("ScalarType?", None, kw.bool)
        self.refused("int?", "x", text=r"expected int\b")

    def test_lists(self):
        self.both("int[]", [], [1, 2, 3])
        self.both("float[]", [1.5, 2.5])
        self.both("bool[]", [True, False])
        self.both("str[]", ["a", "b"])
        self.both("int[][]", [[1], [2, 3]])
        self.both("Scalar[]", [1, 2.5, True])
        self.both("SymInt[]", [1, 2])
        self.both("Device[]", [kw.Device("cpu")])
        self.both("complex[]", [1j, 2 + 0j])
        self.both("ScalarType[]", [kw.float32])
        self.both("int[1000]", list(range(1000)))
        self.assertEqual(self.echo("int[]")((1, 2)), [1, 2])
        self.assertEqual(self.echo("int[]")(range(3)), [0, 1, 2])
        self.assertEqual(self.echo("int[2]")(3), [3, 3])
        self.refused("int[]", 3, "12", b"12", {1: 2})
        self.refused("int[]", [1, "x"], text="element 1: expected int, but got str")
        self.refused("int[][]", [[1], [2, "x"]], text="element 1: element 1: expected int")

    def test_tuples_and_dicts(self):
        self.both("(int, str)", (1, "a"))
        self.both("Dict(str, int)", {}, {"a": 1, "b": 2})
        self.both("Dict(int, float[])", {1: [1.5]})
        self.refused("(int, str)", (1,), text="2 elements")
        self.refused("(int, str)", (1, 2), text="element 1: expected str")
        self.refused("Dict(str, int)", [("a", 1)], {1: 1})

    def test_tensors(self):
        t = kw.empty(3)
        op = self.echo("Tensor")
        self.assertIs(op(t), t)
        self.assertEqual(self.seen, t)
        tensors = self.echo("Tensor[]")([t, t[1:]])
        self.assertEqual(tensors[0], t)
        self.assertEqual(tensors[1].data_ptr, t[1:].data_ptr)
        self.assertEqual(self.echo("Tensor?[]")([None, t]), [None, t])
        self.assertIsNone(self.echo("Tensor?")(None))
        self.refused("Tensor", None, 3, "x", [t])
        self.refused("Tensor[]", t.size, [3])

    @unittest.skipIf(np is None, "NumPy is missing")
    def test_whatever_exports_dlpack_is_a_tensor(self):
        array = np.arange(4.0)
        result = self.echo("Tensor")(array)
        self.assertIsInstance(result, kw.Tensor)
        self.assertEqual(result.data_ptr, array.ctypes.data)
        self.assertEqual([t.data_ptr for t in self.echo("Tensor[]")([array, array[1:]])],
                         [array.ctypes.data, array[1:].ctypes.data])

        class Broken:
            def __dlpack__(self, **kwargs):
                raise RuntimeError("nothing to export")

        with self.assertRaisesRegex(TypeError, "nothing to export") as caught:
            self.echo("Tensor")(Broken())
        self.assertIsInstance(caught.exception.__cause__, RuntimeError)

    @unittest.skipIf(np is None, "NumPy is missing")
    def test_numbers_of_numpy(self):
        self.assertEqual(self.echo("int")(np.int64(3)), 3)
        self.assertEqual(self.echo("float")(np.float32(0.5)), 0.5)
        self.assertIs(self.echo("bool")(np.bool_(True)), True)
        self.assertEqual(self.echo("Scalar")(np.complex64(1j)), 1j)
        self.assertEqual(self.echo("int[]")(np.arange(3)), [0, 1, 2])
        self.assertIs(self.echo("ScalarType")(np.dtype("float64")), kw.float64)
        self.assertIs(self.echo("ScalarType")(np.int32), kw.int32)
        self.refused("int", np.bool_(True), np.float64(1))

    def test_any_gives_the_same_object_back(self):
        class Thing:
            pass

        thing = Thing()
        op = self.echo("Any")
        self.assertIs(op(thing), thing)
        for value in (None, True, 3, 1 << 70, 2.5, 1j, "x", "\ud800", [1, 2], [1, "a"], (1, (2,)),
                      {"a": [1]}, [], [[]], {}, kw.Device("cpu"), [thing, None], {thing: 1}):
            with self.subTest(value=value):
                result = op(value)
                self.assertEqual(result, value)
                self.assertIs(type(result), type(value))
        t = kw.empty(1)
        self.assertEqual(op([t, t]), [t, t])
        loop = []
        loop.append(loop)
        with self.assertRaisesRegex(TypeError, "too deep"):
            op(loop)

    def test_generator_is_its_address_in_between(self):
        generator = kw.Generator("seed 1")
        op = self.echo("Generator", returned="Generator")
        self.assertIs(op(generator), generator)
        self.assertIs(self.seen, generator)
        self.assertEqual(generator.value, "seed 1")
        self.refused("Generator", None, 3)
        self.assertIsNone(self.echo("Generator?", returned="Generator?")(None))

    def test_defaults_are_those_of_the_schema(self):
        for type_name, default, expected in (
                ("int", "=3", 3), ("float", "=1.5", 1.5), ("bool", "=True", True),
                ("str", "='x'", "x"), ("int[2]", "=1", [1, 1]), ("int[]", "=[1, 2]", [1, 2]),
                ("Tensor?", "=None", None), ("Scalar", "=2", 2), ("Device?", "='cpu'",
                                                                  kw.Device("cpu")),
                ("ScalarType", "=float", kw.float32),
                ("MemoryFormat", "=contiguous_format", kw.MemoryFormat.contiguous)):
            with self.subTest(type_name):
                op = self.echo(type_name, default)
                self.assertEqual(op(), expected)
                self.assertEqual(op.schema.default(0), expected)
                self.assertEqual(op(), expected)

    def test_several_returns_are_a_tuple_and_none_is_none(self):
        self.library.define("pair(int x) -> (int, str)")
        self.library.define("nothing(int x) -> ()")
        self.library.impl("pair", None, lambda x: (x, str(x)))
        self.library.impl("nothing", None, lambda x: None)
        ops = self.dispatcher.ops.v
        self.assertEqual(ops.pair(3), (3, "3"))
        self.assertIsNone(ops.nothing(3))

    def test_kernel_that_returns_something_else_is_told_so(self):
        self.library.define("one(int x) -> int")
        self.library.define("two(int x) -> (int, Tensor)")
        self.library.define("none(int x) -> ()")
        ops = self.dispatcher.ops.v
        results = {"one": ("x", "v::one: return 1 of the kernel: expected int, but got str"),
                   "two": ((1, 2), "v::two: return 2 of the kernel: expected Tensor"),
                   "none": (3, "v::none: the kernel returned")}
        for name, (wrong, text) in results.items():
            self.library.impl(name, None, lambda x, wrong=wrong: wrong)
            with self.subTest(name), self.assertRaisesRegex(TypeError, text):
                getattr(ops, name)(1)
        self.library.impl("two", None, lambda x: (1,))
        with self.assertRaisesRegex(TypeError, "1 values, but the schema says 2"):
            ops.two(1)
        self.library.impl("two", None, lambda x: 1)
        with self.assertRaisesRegex(TypeError, "2 returns"):
            ops.two(1)

    def test_absent_tensor_is_none_as_a_return(self):
        self.library.define("absent(Tensor x) -> (Tensor, Tensor?)")
        self.library.impl("absent", "CPU", lambda x: (None, None))
        self.assertEqual(self.dispatcher.ops.v.absent(kw.empty(1)), (None, None))


if __name__ == "__main__":
    support.main()
