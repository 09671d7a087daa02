# The kernels in C of examples/torch_route without PyTorch: against NumPy, and what they decline.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import os
import sys
import unittest

import keyway as kw
import numpy as np

PLUGIN = os.environ.get('KEYWAY_ROUTE_PLUGIN')
if not PLUGIN:
    sys.exit(77)

SCHEMAS = {
    'add.Tensor': 'add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor',
    'add_.Tensor': 'add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)',
    'mul.Tensor': 'mul.Tensor(Tensor self, Tensor other) -> Tensor',
    'mul_.Tensor': 'mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)',
    'relu': 'relu(Tensor self) -> Tensor',
    'mm': 'mm(Tensor self, Tensor mat2) -> Tensor',
}


class Kernels(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(5)
        self.dispatcher = kw.Dispatcher()
        self.lib = kw.Library('aten', dispatcher=self.dispatcher)
        self.declined = kw.empty((1,))
        for name, schema in SCHEMAS.items():
            self.lib.define(schema)
            self.lib.impl(name, 'CompositeExplicitAutograd', lambda *args, **kwargs: self.declined)
        self.plugin = self.dispatcher.load_plugin(PLUGIN)

    def tearDown(self):
        self.plugin.unload()

    def call(self, name, *args, **kwargs):
        return self.dispatcher.operator(f'aten::{name}')(*args, **kwargs)

    def count(self, name):
        return tuple(self.dispatcher.ops.torch_route.count(f'aten::{name}'))

    def array(self, *shape):
        return self.random.standard_normal(shape, dtype=np.float32)

    def test_sums_and_products(self):
        for shape in ((), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4, 5, 2, 2, 2)):
            a, b = self.array(*shape), self.array(*shape)
            np.testing.assert_array_equal(np.asarray(self.call('add.Tensor', a, b)), a + b)
            np.testing.assert_array_equal(np.asarray(self.call('mul.Tensor', a, b)), a * b)
            np.testing.assert_allclose(np.asarray(self.call('add.Tensor', a, b, alpha=2.5)),
                                       a + np.float32(2.5) * b, rtol=1e-6, atol=1e-6)
            np.testing.assert_array_equal(np.asarray(self.call('relu', a)), np.maximum(a, 0))
        self.assertEqual([self.count(name) for name in ('add.Tensor', 'mul.Tensor', 'relu')], [(12, 0), (6, 0), (6, 0)])

    def test_numbers_serve_all_elements(self):
        a = self.array(3, 4)
        for number in (np.array(2.5), np.array(3), np.array(1.5, dtype=np.float32)):
            np.testing.assert_array_equal(np.asarray(self.call('mul.Tensor', a, number)), a * np.float32(number))

    def test_in_place_writes_and_counts(self):
        a, b = self.array(3, 4), self.array(3, 4)
        expected, t = (a + b) * b, kw.asarray(a)
        self.assertIs(self.call('add_.Tensor', t, b), t)
        self.assertIs(self.call('mul_.Tensor', t, b), t)
        np.testing.assert_array_equal(a, expected)
        self.assertEqual(t.version, 2)

    def test_memory_that_is_read_only_is_not_written(self):
        a = self.array(3)
        before = a.copy()
        a.flags.writeable = False
        with self.assertRaises(kw.NotSupported):
            self.call('add_.Tensor', kw.from_buffer(a), a)
        np.testing.assert_array_equal(a, before)

    def test_nan_stays_in_relu(self):
        a = np.array([np.nan, -1, -np.inf, np.inf], dtype=np.float32)
        np.testing.assert_array_equal(np.asarray(self.call('relu', a)), [np.nan, 0, 0, np.inf])

    def test_products_of_matrices_of_any_strides(self):
        for rows, inner, columns in ((1, 1, 1), (3, 5, 2), (4, 0, 3), (0, 2, 3), (17, 33, 9)):
            for a in (self.array(rows, inner), self.array(inner, rows).T, self.array(rows, 2 * inner)[:, ::2]):
                for b in (self.array(inner, columns), self.array(columns, inner).T):
                    exact = a.astype(np.float64) @ b.astype(np.float64)
                    np.testing.assert_array_equal(np.asarray(self.call('mm', a, b)), exact.astype(np.float32))

    def test_what_is_not_served_is_declined(self):
        a = self.array(3, 4)
        for name, *args in (('add.Tensor', a, self.array(4)), ('add.Tensor', a.T, a.T), ('mul.Tensor', a.astype('f8'), a),
                            ('mul.Tensor', self.array(), np.array(2.5)), ('add_.Tensor', a[:, ::2], a[:, ::2]),
                            ('relu', a.T), ('relu', np.ones(3, dtype=np.int64)), ('mm', a, a), ('mm', a, self.array(4))):
            before = self.count(name)
            self.assertIs(self.call(name, *args), self.declined, name)
            self.assertEqual(self.count(name), (before[0], before[1] + 1), name)
        self.call('add.Tensor', a, a, alpha=1)
        self.assertIs(self.call('add.Tensor', a, a, alpha=1j), self.declined)


if __name__ == '__main__':
    unittest.main()
