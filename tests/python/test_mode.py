# Modes: every call of a thread taken over; and the PythonDispatcher, which resolves it.
#
# Layer:   test
# Threads: several where a case says so.
# SPDX-License-Identifier: MIT

import gc
import os
import subprocess
import sys
import threading
import unittest
import weakref

import keyway as kw


class Noting(kw.DispatchMode):
    """Notes what it sees and passes it on."""

    def __init__(self, name='mode', notes=None):
        self.name, self.notes = name, [] if notes is None else notes

    def __kw_dispatch__(self, op, types, args=(), kwargs=None):
        self.notes.append((self.name, op.name))
        return op(*args, **(kwargs or {}))


class Case(unittest.TestCase):
    def setUp(self):
        self.dispatcher = kw.Dispatcher()
        self.lib = kw.Library('m', dispatcher=self.dispatcher)
        self.ops = self.dispatcher.ops.m
        self.sets = kw.local_sets()
        self.define('plus(int n) -> int', lambda n: n + 1)
        self.define('same(Tensor x) -> Tensor', lambda x: x)
        self.define('fail(int n) -> int', self.failing)

    def tearDown(self):
        self.assertEqual(kw.current_modes(), [])
        self.assertEqual(kw.local_sets(), self.sets)
        del self.ops
        self.lib.close()
        self.lib.drain()
        self.lib.destroy()

    def define(self, schema, function, key='CompositeExplicitAutograd'):
        self.lib.define(schema)
        self.lib.impl(schema.split('(')[0], key, function)

    def failing(self, n):
        raise KeyError(n)


class Modes(Case):
    def test_mode_sees_calls_with_and_without_tensors(self):
        with Noting() as mode:
            self.assertEqual(self.ops.plus(1), 2)
            self.ops.same(kw.empty((2,)))
        self.assertEqual(self.ops.plus(1), 2)
        self.assertEqual(mode.notes, [('mode', 'm::plus'), ('mode', 'm::same')])

    def test_nested_modes_are_asked_from_the_inside(self):
        notes = []
        outer, inner = Noting('outer', notes), Noting('inner', notes)
        with outer:
            with inner:
                self.assertEqual(kw.current_modes(), [outer, inner])
                self.ops.plus(1)
            self.ops.same(kw.empty((1,)))
        self.assertEqual(notes, [('inner', 'm::plus'), ('outer', 'm::plus'), ('outer', 'm::same')])

    def test_mode_is_off_while_its_handler_runs(self):
        seen = []

        class Looking(kw.DispatchMode):
            def __kw_dispatch__(self, op, types, args=(), kwargs=None):
                seen.append(kw.current_modes())
                return op(*args, **(kwargs or {}))
        outer = Noting()
        with outer, Looking():
            self.ops.plus(1)
        self.assertEqual(seen, [[outer]])

    def test_same_mode_may_be_entered_twice(self):
        mode = Noting()
        with mode, mode:
            self.ops.plus(1)
        self.assertEqual(len(mode.notes), 2)

    def test_exceptions_leave_the_stack_right(self):
        class Raising(kw.DispatchMode):
            def __kw_dispatch__(self, op, types, args=(), kwargs=None):
                raise ValueError('handler')
        outer, inner = Noting(), Raising()
        with outer:
            with self.assertRaisesRegex(ValueError, 'handler'), inner:
                self.ops.plus(1)
            self.assertEqual(kw.current_modes(), [outer])
            with self.assertRaises(KeyError):
                self.ops.fail(3)
            self.assertEqual(kw.current_modes(), [outer])
            self.assertEqual(self.ops.plus(1), 2)

    def test_blocks_end_in_the_reverse_order(self):
        first, second = Noting(), Noting()
        first.__enter__()
        second.__enter__()
        with self.assertRaises(kw.WrongOrder):
            first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        first.__exit__(None, None, None)
        with self.assertRaises(kw.WrongOrder):
            first.__exit__(None, None, None)

    def test_threads_have_stacks_of_their_own(self):
        barrier, failures = threading.Barrier(3), []

        def run(name):
            try:
                mode = Noting(name)
                with mode:
                    barrier.wait(30)
                    for _ in range(100):
                        assert self.ops.plus(1) == 2
                    assert kw.current_modes() == [mode]
                    barrier.wait(30)
                assert mode.notes == [(name, 'm::plus')] * 100, mode.notes
            except BaseException as failure:
                failures.append(failure)
        threads = [threading.Thread(target=run, args=(name,)) for name in 'ab']
        for thread in threads:
            thread.start()
        barrier.wait(30)
        self.assertEqual(self.ops.plus(1), 2)
        self.assertEqual(kw.current_modes(), [])
        barrier.wait(30)
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_mode_without_a_method_is_told(self):
        class Empty(kw.DispatchMode):
            pass
        with self.assertRaisesRegex(NotImplementedError, 'Empty has no __kw_dispatch__'), Empty():
            self.ops.plus(1)

    def test_mode_switched_off_is_not_asked(self):
        with Noting() as mode, kw.no_python_dispatch():
            self.assertEqual(self.ops.plus(1), 2)
        self.assertEqual(mode.notes, [])

    def test_mode_ends_after_its_block(self):
        mode = Noting()
        with mode:
            self.ops.plus(1)
        reference = weakref.ref(mode)
        del mode
        gc.collect()
        self.assertIsNone(reference())

    def test_mode_lives_while_its_block_lasts(self):
        mode = Noting()
        reference = weakref.ref(mode)
        mode.__enter__()
        del mode
        gc.collect()
        self.ops.plus(1)
        reference().__exit__(None, None, None)
        gc.collect()
        self.assertIsNone(reference())

    def test_mode_sees_the_calls_of_kernels(self):
        self.define('outer(int n) -> int', lambda n: self.ops.plus(n) * 2)
        notes = []

        class Below(kw.DispatchMode):
            def __kw_dispatch__(self, op, types, args=(), kwargs=None):
                notes.append(op.name)
                with self:
                    return op.redispatch('CPU', *args, **(kwargs or {}))
        with Below():
            self.assertEqual(self.ops.outer(1), 4)
        self.assertEqual(notes, ['m::outer', 'm::plus'])


    def test_handlers_run_while_kernels_are_replaced(self):
        """Every call gets the answer of one of the kernels, through its thread's mode."""
        failures, ends, answers = [], threading.Event(), set()
        self.lib.define('which(Tensor x) -> int')
        self.lib.impl('which', 'CPU', lambda x: 0)

        def run():
            try:
                mode, x = Noting(), kw.empty((2,))
                while not ends.is_set():
                    with mode:
                        answers.add(self.ops.which(x))
                    assert mode.notes.pop() == ('mode', 'm::which') and not mode.notes
            except BaseException as failure:
                failures.append(failure)
        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(1, 301):
            self.lib.impl('which', 'CPU', lambda x, number=number: number, duplicates='replace')
            kw.Dispatcher()
        while not answers & {300} and not failures:
            pass
        ends.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertTrue(answers <= set(range(301)))

    def test_child_of_fork_has_the_modes_of_its_parent(self):
        notes = []
        with Noting('mode', notes):
            child = os.fork()
            if child == 0:
                try:
                    right = self.ops.plus(1) == 2 and len(notes) == 1 and len(kw.current_modes()) == 1
                finally:
                    os._exit(0 if right else 1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(notes, [])


class DefaultDispatcher(unittest.TestCase):
    """The process's dispatcher, whose tensors may be somebody else's until Python calls."""

    def test_modes_see_its_operators(self):
        with kw.Library('mode_default') as library:
            library.define('f(Tensor x) -> Tensor')
            library.impl('f', 'CPU', lambda x: x)
            with Noting() as mode:
                kw.default.ops.mode_default.f(kw.empty((1,)))
        self.assertEqual(mode.notes, [('mode', 'mode_default::f')])

    def test_looking_at_it_does_not_name_the_type_of_its_tensors(self):
        program = """if True:
            import os
            import keyway as kw
            kw.default.operators()
            dispatcher = kw.Dispatcher()
            plugin = dispatcher.load_plugin(os.environ['PYTHON_TEST_OBJECTS'] + '/python_hold.so')
            print(dispatcher.ops.hold.claim_default(), kw.default.operators())
            try:
                kw.Library('mine')
            except kw.Error as error:
                print(error.name)
        """
        done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ('0 []\nKW_TENSOR_TYPE_MISMATCH\n', ''))


class Resolver(Case):
    def test_resolver_gets_keys_and_arguments(self):
        seen = []

        def resolver(op, keys, args, kwargs):
            seen.append((op.name, keys, args, kwargs))
            return kw.resolve(op, keys, args, kwargs)
        x = kw.empty((2,))
        with kw.python_dispatcher(resolver):
            self.assertIs(self.ops.same(x), x)
            self.assertEqual(self.ops.plus(3), 4)
        self.assertEqual(self.ops.plus(1), 2)
        self.assertEqual([(name, args, kwargs) for name, _, args, kwargs in seen],
                         [('m::same', (x,), {}), ('m::plus', (3,), {})])
        self.assertIn('CPU', seen[0][1])
        self.assertFalse(any('PythonDispatcher' in keys for _, keys, _, _ in seen))

    def test_without_a_resolver_calls_end_where_they_would(self):
        with kw.python_dispatcher():
            self.assertEqual(self.ops.plus(1), 2)

    def test_redispatch_of_a_layer_comes_back(self):
        keys = []

        def autograd(keyset, x):
            return self.dispatcher.operator('m::same').redispatch(
                keyset & kw.KeySet.full_after('AutogradCPU'), x)
        self.lib.impl('same', 'AutogradCPU', autograd, with_keyset=True)

        def resolver(op, keyset, args, kwargs):
            keys.append(keyset.highest.name)
            return kw.resolve(op, keyset, args, kwargs)
        x = kw.empty((2,))
        with kw.python_dispatcher(resolver):
            self.assertIs(self.ops.same(x), x)
        self.assertEqual(keys, ['AutogradCPU', 'CPU'])

    def test_blocks_nest_and_exceptions_pass(self):
        notes = []

        def named(name):
            def resolver(op, keys, args, kwargs):
                notes.append(name)
                return kw.resolve(op, keys, args, kwargs)
            return resolver
        with kw.python_dispatcher(named('outer')):
            with kw.python_dispatcher(named('inner')):
                self.ops.plus(1)
            with self.assertRaises(KeyError):
                self.ops.fail(1)
            self.ops.plus(1)
        self.assertEqual(notes, ['inner', 'outer', 'outer'])

    def test_resolver_goes_before_modes(self):
        notes = []

        def resolver(op, keys, args, kwargs):
            notes.append(keys.highest.name)
            return kw.resolve(op, keys, args, kwargs)
        with Noting('mode', notes), kw.python_dispatcher(resolver):
            self.ops.plus(1)
        self.assertEqual(notes, ['PythonTLSSnapshot', 'Python', ('mode', 'm::plus'), 'Undefined'])


if __name__ == '__main__':
    unittest.main()
