# Keys and key sets as Python objects.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import pickle
import unittest

import keyway as kw
from keyway import Key, KeySet

import support


class KeyTest(unittest.TestCase):
    def test_key_is_its_number_and_its_name(self):
        self.assertEqual(Key("CPU"), 50)
        self.assertEqual(Key(50).name, "CPU")
        self.assertEqual(str(Key("AutogradCPU")), "AutogradCPU")
        self.assertEqual(repr(Key(12)), "Key('Python')")
        self.assertEqual(f"{Key('CPU')}", "CPU")
        self.assertEqual({Key("CPU"): 1}[50], 1)

    def test_key_of_an_old_name_prints_the_present_one(self):
        self.assertEqual(Key("CUDATensorId").name, "CUDA")

    def test_key_knows_its_halves(self):
        key = Key("SparseCUDA")
        self.assertEqual((key.functionality, key.backend), (Key("Sparse"), "CUDA"))
        self.assertIsNone(Key("Tracer").backend)
        self.assertTrue(Key("Autograd").is_alias)
        self.assertFalse(Key("Autograd").is_runtime)
        self.assertTrue(key.is_runtime)
        self.assertFalse(Key("Dense").is_runtime)

    def test_unknown_key_names_a_similar_one(self):
        with self.assertRaisesRegex(kw.UnknownKey, "CPU") as caught:
            Key("CPUU")
        self.assertEqual(caught.exception.name, "KW_UNKNOWN_KEY")
        self.assertIsInstance(caught.exception, ValueError)

    def test_number_that_is_no_key_is_refused(self):
        for number in (-1, 49, 157, 1 << 70):
            with self.assertRaises(ValueError):
                Key(number)
        with self.assertRaises(TypeError):
            Key(None)

    def test_key_survives_pickling(self):
        self.assertEqual(pickle.loads(pickle.dumps(Key("CPU"))), Key("CPU"))


class KeySetTest(unittest.TestCase):
    def test_set_is_made_of_whatever_names_keys(self):
        expected = KeySet(["CPU", "AutogradCPU"])
        self.assertEqual(KeySet("CPU, AutogradCPU"), expected)
        self.assertEqual(KeySet("DispatchKeySet(CPU, AutogradCPU)"), expected)
        self.assertEqual(KeySet((Key("CPU"), Key("AutogradCPU"))), expected)
        self.assertEqual(KeySet(bits=expected.bits), expected)
        self.assertEqual(KeySet(expected), expected)
        self.assertEqual(Key("CPU") | Key("AutogradCPU"), expected)
        self.assertEqual(KeySet(), KeySet([]))

    def test_iteration_yields_keys_lowest_first(self):
        keys = KeySet(["AutogradCPU", "CPU", "Tracer"])
        self.assertEqual([key.name for key in keys], ["CPU", "AutogradCPU", "Tracer"])
        self.assertEqual(len(keys), 3)
        self.assertEqual(keys.highest, Key("Tracer"))
        self.assertEqual(len(KeySet.full()), 137)

    def test_algebra_follows_the_c_functions(self):
        a, b = KeySet(["CPU", "Tracer"]), KeySet(["Tracer", "CUDA"])
        self.assertEqual((a | b).bits, a.bits | b.bits)
        self.assertEqual((a & b).bits, a.bits & b.bits)
        self.assertEqual((a ^ b).bits, a.bits ^ b.bits)
        # Difference takes functionalities away; backends stay.
        self.assertEqual((a - "CPU").bits, KeySet("Tracer").bits | 1)
        self.assertEqual(a.remove("Tracer"), KeySet("CPU"))
        self.assertEqual(a.add("CUDA"), KeySet("CPU, Tracer, CUDA"))
        self.assertEqual("Tracer" | KeySet("CPU"), a)
        self.assertEqual(a.remove_backend("CPU").backends, ())
        self.assertEqual(b.backends, ("CUDA",))

    def test_comparison_is_that_of_sets(self):
        small, large = KeySet("CPU"), KeySet("CPU, AutogradCPU")
        self.assertTrue(small < large and small <= large and large > small and small <= small)
        self.assertFalse(large <= small)
        self.assertTrue(small.issubset(large))
        self.assertIn("CPU", large)
        self.assertNotIn(Key("CUDA"), large)
        self.assertTrue(KeySet("CPU").isdisjoint("SparseCUDA"))
        self.assertFalse(large.isdisjoint("CPU"))
        self.assertFalse(KeySet())
        self.assertNotEqual(small, 50)

    def test_set_hashes_prints_and_pickles(self):
        keys = KeySet("CPU, AutogradCPU")
        self.assertEqual({keys: 1}[KeySet(["AutogradCPU", "CPU"])], 1)
        self.assertEqual(str(keys), "DispatchKeySet(CPU, AutogradCPU)")
        self.assertEqual(eval(repr(keys), {"KeySet": KeySet}), keys)
        self.assertEqual(pickle.loads(pickle.dumps(keys)), keys)

    def test_named_sets(self):
        below = KeySet.full_after("AutogradCPU")
        self.assertIn("CPU", below)
        self.assertNotIn("AutogradCPU", below)
        self.assertIn("PythonDispatcher", below)
        self.assertIn("AutogradCPU", KeySet.of_alias("Autograd"))

    def test_wrong_operands_are_type_errors(self):
        for wrong in (None, 1.5, [None]):
            with self.assertRaises(TypeError):
                KeySet("CPU") | wrong
        with self.assertRaises(kw.InvalidArgument):
            KeySet("Autograd")
        with self.assertRaises(ValueError):
            KeySet(bits=1 << 63)


if __name__ == "__main__":
    support.main()
