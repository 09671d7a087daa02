# PyTorch's programs through Keyway's operators: the same results, no call missed, nothing copied.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import contextlib
import gc
import io
import os
import pathlib
import sys
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples/torch_route'))

import compare
import exchange
import keyway as kw
import main
import programs
import route
from torch.utils._python_dispatch import TorchDispatchMode

PLUGIN = os.environ.get('KEYWAY_ROUTE_PLUGIN')  # not there when the examples are not built
IN_C = 'aten::add.Tensor', 'aten::add_.Tensor', 'aten::mul.Tensor', 'aten::mul_.Tensor', 'aten::relu', 'aten::mm'

# So many calls each program makes at least, and so many different operators.
LEAST = {'learn': (300, 30), 'views': (20, 18), 'reductions': (45, 28), 'arguments': (35, 20)}


class Case(unittest.TestCase):
    plugin = None

    def setUp(self):
        torch.set_num_threads(1)
        self.route = route.Route(self.plugin)

    def tearDown(self):
        gc.collect()
        self.route.close()

    def check(self, name, tolerance):
        program = programs.ALL[name]
        plain = program()
        with route.CountMode() as counting:
            program()
        self.assertEqual(compare.differences(plain, self.route.run(program), tolerance), [])
        counts = self.route.counts()
        self.assertEqual(compare.bypassed(counting.counts, counts), [])
        calls, operators = LEAST[name]
        self.assertGreater(sum(came for came, _, _ in counts.values()), calls)
        self.assertGreater(len(counts), operators)
        return counts


class InPython(Case):
    """All kernels are PyTorch's own: results are the same bit for bit."""

    def test_learn(self):
        self.check('learn', 0)

    def test_views(self):
        self.check('views', 0)

    def test_reductions(self):
        self.check('reductions', 0)

    def test_arguments(self):
        self.check('arguments', 0)

    def test_comparison_finds_one_wrong_bit(self):
        """The comparison is believed because it finds a kernel that is wrong in the last bit."""
        with route.RouteMode(self.route):
            torch.ones(2) * 2
        faulty = self.route.operators[torch.ops.aten.mul.Tensor]
        original = faulty.torch_op
        faulty.torch_op = lambda *args, **kwargs: torch.nextafter(original(*args, **kwargs), torch.tensor(9e9))
        plain = programs.reductions()
        self.assertIn('scaled', compare.differences(plain, self.route.run(programs.reductions), 0))

    def test_count_finds_a_call_that_went_another_way(self):
        class Leaking(route.RouteMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                if func is torch.ops.aten.relu.default:
                    return func(*args, **(kwargs or {}))
                return super().__torch_dispatch__(func, types, args, kwargs)
        with route.CountMode() as counting:
            programs.learn()
        with Leaking(self.route):
            programs.learn()
        wrong = compare.bypassed(counting.counts, self.route.counts())
        self.assertEqual([line.split(':')[2] for line in wrong], ['relu'])

    def test_failure_of_pytorch_comes_out(self):
        with route.RouteMode(self.route):
            with self.assertRaisesRegex(RuntimeError, 'shape|size'):
                torch.mm(torch.ones(2, 3), torch.ones(2, 3))
            self.assertEqual(torch.mm(torch.ones(1, 2), torch.ones(2, 1)).item(), 2)

    def test_nothing_is_left_of_twenty_runs(self):
        self.route.run(programs.views)
        gc.collect()
        before = kw.statistics()['tensor_count']
        for _ in range(20):
            self.route.run(programs.views)
        gc.collect()
        self.assertEqual(kw.statistics()['tensor_count'], before)

    def test_operator_has_the_schema_of_the_original(self):
        self.route.run(programs.learn)
        for torch_op, routed in self.route.operators.items():
            returns = [str(r.type) for r in torch_op._schema.returns]
            self.assertEqual(len(routed.op.schema.returns), len(returns), routed.name)
            self.assertEqual([a.name for a in routed.op.schema.args],
                             [a.name for a in torch_op._schema.arguments])
            self.assertEqual([a.written for a in routed.op.schema.args],
                             [a.alias_info is not None and a.alias_info.is_write for a in torch_op._schema.arguments])


@unittest.skipUnless(PLUGIN, 'the plugin is not built')
class InC(Case):
    """A handful of kernels in C, from a plugin."""

    plugin = PLUGIN

    def test_learn(self):
        counts = self.check('learn', 1e-6)
        for name in ('aten::add_.Tensor', 'aten::mul.Tensor', 'aten::mul_.Tensor', 'aten::relu', 'aten::mm'):
            self.assertGreater(counts[name][2], 0, name)

    def test_views(self):
        self.check('views', 1e-6)

    def test_reductions(self):
        self.assertGreater(self.check('reductions', 1e-6)['aten::mul.Tensor'][2], 0)

    def test_arguments(self):
        self.check('arguments', 1e-6)

    def test_table_has_the_kernel_in_c_and_the_layers_above(self):
        with route.RouteMode(self.route):
            torch.ones(2) + torch.ones(2)
        rows = {row.key.name: row for row in self.route.dispatcher.operator('aten::add.Tensor').table()}
        self.assertEqual(rows['CPU'].kernel, 'aten::add.Tensor')
        self.assertFalse(rows['CPU'].is_fallthrough)
        for key in ('AutogradCPU', 'ADInplaceOrView', 'AutocastCPU'):
            self.assertTrue(rows[key].is_fallthrough, key)
        self.assertEqual(rows['CUDA'].registered, kw.Key('CompositeExplicitAutograd'))

    def test_kernels_in_c_decline_what_they_do_not_serve(self):
        wide, narrow = torch.ones(2, 3), torch.ones(3)
        with route.RouteMode(self.route):
            self.assertEqual((wide + narrow).shape, (2, 3))
            self.assertEqual((wide.t() * wide.t()).stride(), (1, 3))
            self.assertEqual((wide.double() + wide.double()).dtype, torch.float64)
            self.assertEqual((torch.ones(2, dtype=torch.int64) * 3).tolist(), [3, 3])
        counts = self.route.counts()
        self.assertEqual(counts['aten::add.Tensor'], (2, 2, 0))
        self.assertEqual(counts['aten::mul.Tensor'], (2, 2, 0))

    def test_in_place_in_c_writes_the_memory_of_the_program(self):
        x = torch.arange(4.)
        address, part = x.data_ptr(), x[1:3]
        with route.RouteMode(self.route):
            self.assertIs(x.add_(x), x)
            self.assertIs(x.mul_(2), x)
        self.assertEqual(x.tolist(), [0, 4, 8, 12])
        self.assertEqual((x.data_ptr(), part.tolist(), x._version, part._version), (address, [4, 8], 2, 2))
        self.assertEqual(self.route.counts()['aten::mul_.Tensor'], (1, 0, 1))

    def test_result_of_c_is_used_on_by_autograd(self):
        x = torch.full((2, 2), 3., requires_grad=True)
        with route.RouteMode(self.route):
            (x * x).sum().backward()
        self.assertEqual(x.grad.tolist(), [[6, 6], [6, 6]])


class Sharing(Case):
    def test_tensor_goes_without_a_copy(self):
        for t in (torch.arange(6.), torch.ones(2, 3).t(), torch.ones(4, dtype=torch.bfloat16)[1:],
                  torch.ones(2, dtype=torch.complex64), torch.ones(3, requires_grad=True)):
            stands = exchange.tensor_to_keyway(t)
            self.assertEqual((stands.data_ptr, stands.shape, stands.strides, stands.dtype.name),
                             (t.data_ptr(), t.shape, t.stride(), str(t.dtype).split('.')[1]))
            self.assertIs(exchange.tensor_to_torch(stands), t)

    def test_what_dlpack_refuses_goes_as_metadata(self):
        for t in (torch.ones(2, 3, dtype=torch.bool).t(), torch.ones(2, dtype=torch.complex64).conj(),
                  torch.ones(2, 2, device='meta')):
            stands = exchange.tensor_to_keyway(t)
            self.assertEqual((stands.data_ptr, stands.shape, stands.strides, stands.dtype.name),
                             (0, t.shape, t.stride(), str(t.dtype).split('.')[1]))
            self.assertIs(exchange.tensor_to_torch(stands), t)

    def test_tensor_of_keyway_comes_without_a_copy(self):
        made = kw.empty((2, 3))
        self.assertEqual(exchange.tensor_to_torch(made).data_ptr(), made.data_ptr)

    def test_values_come_back_as_they_went(self):
        generator = torch.Generator()
        for kind, values in {
                'ScalarType?': [torch.float16, torch.bool, torch.complex128, torch.qint8, None],
                'Layout': [torch.strided, torch.sparse_coo, torch.sparse_csr],
                'MemoryFormat?': [torch.contiguous_format, torch.preserve_format, torch.channels_last_3d, None],
                'Device': [torch.device('cpu'), torch.device('cuda', 1), torch.device('meta')],
                'Generator?': [generator, None], 'Scalar': [1, 2.5, True, 1j], 'int[2]': [[1, 2]], 'str': ['x']}.items():
            there, back = exchange.converters(kind)
            self.assertEqual([back(there(value)) for value in values], values)


@unittest.skipUnless(PLUGIN, 'the plugin is not built')
class Program(unittest.TestCase):
    def test_program_checks_and_says_what_it_counted(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertTrue(main.check('views', PLUGIN))
        self.assertEqual(printed.getvalue(), 'views: 21 operators, 25 calls, kernels run 25 in Python and 0 in C; '
                                             '8 results compared, 0 differ\n')


class Subclass(Case):
    """The route by a subclass of PyTorch's Tensor in the place of a mode."""

    def test_subclass_routes_what_its_instances_touch(self):
        routing = self.route

        class Routed(torch.Tensor):
            __torch_function__ = torch._C._disabled_torch_function_impl

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                plain = [a.held if isinstance(a, Routed) else a for a in args]
                return routing.operator(func).call(plain, kwargs or {})
        held = torch.ones(3)
        t = torch.Tensor._make_wrapper_subclass(Routed, held.shape, dtype=held.dtype)
        t.held = held
        self.assertEqual((t + 1).tolist(), [2, 2, 2])
        self.assertEqual(self.route.counts()['aten::add.Tensor'][0], 1)
        self.assertNotIsInstance(self.route, TorchDispatchMode)


if __name__ == '__main__':
    unittest.main()
