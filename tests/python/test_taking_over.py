# The code that docs/python.md shows of taking over operators, as it runs.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import io
import sys
import unittest

import keyway as kw
import numpy as np

d = kw.Dispatcher()
lib = kw.Library('my', dispatcher=d)
lib.define('mul(Tensor a, Tensor b) -> Tensor')
lib.impl('mul', 'CPU', lambda a, b: kw.asarray(np.multiply(np.asarray(a), np.asarray(b))))
printed, stdout = io.StringIO(), sys.stdout
sys.stdout = printed


# snippet: subclass
class Logged(kw.Tensor):
    @classmethod
    def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
        print(op.name)
        return super().__kw_dispatch__(op, types, args, kwargs)


x = Logged.make_subclass(kw.asarray(np.ones((2, 3))))
y = d.ops.my.mul(x, x)  # prints my::mul
# end of snippet


# snippet: wrapper
class Scaled(kw.Tensor):
    """Stands for a tensor times a factor, which is multiplied when somebody needs the product."""

    @classmethod
    def of(cls, tensor, factor):
        made = cls.make_wrapper(tensor.shape, dtype=tensor.dtype)
        made.tensor, made.factor = tensor, factor
        return made

    @classmethod
    def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
        scaled = [a if isinstance(a, Scaled) else Scaled.of(a, 1) for a in args]
        product = op(*[a.tensor for a in scaled])
        return Scaled.of(product, scaled[0].factor * scaled[1].factor)
# end of snippet


# snippet: mode
class Counting(kw.DispatchMode):
    count = 0

    def __kw_dispatch__(self, op, types, args=(), kwargs=None):
        self.count += 1
        return op(*args, **(kwargs or {}))


with Counting() as mode:
    d.ops.my.mul(y, y)
print(mode.count)  # 1
# end of snippet

sys.stdout = stdout


class Documented(unittest.TestCase):
    def test_subclass_is_logged(self):
        self.assertEqual(printed.getvalue(), 'my::mul\n1\n')
        self.assertIs(type(y), kw.Tensor)

    def test_wrapper_multiplies_factors(self):
        plain = kw.asarray(np.full((2,), 3.0))
        product = d.ops.my.mul(Scaled.of(plain, 2), plain)
        self.assertEqual((product.factor, product.tensor.tolist()), (2, [9, 9]))

    def test_mode_counts(self):
        self.assertEqual(mode.count, 1)


if __name__ == '__main__':
    unittest.main()
