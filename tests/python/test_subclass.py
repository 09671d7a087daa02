# Subclasses of Tensor: operators taken over by instances, and one object for one tensor.
#
# Layer:   test
# Threads: one, but for one case.
# SPDX-License-Identifier: MIT

import gc
import itertools
import os
import threading
import unittest
import weakref

import keyway as kw

class Counting(kw.Tensor):
    """Notes what its instances are called with, and goes below."""

    calls = []

    @classmethod
    def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
        cls.calls.append((op.name, types, args, kwargs or {}))
        return super().__kw_dispatch__(op, types, args, kwargs)


class Wrapper(kw.Tensor):
    """Has metadata only, and another tensor that it stands for."""

    @classmethod
    def around(cls, inner):
        made = cls.make_wrapper(inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
        unwrapped = [getattr(a, 'inner', a) if isinstance(a, kw.Tensor) else a for a in args]
        result = op(*unwrapped, **(kwargs or {}))
        return cls.around(result) if isinstance(result, kw.Tensor) else result


class Plain(kw.Tensor):
    """A subclass that takes nothing over."""


class Case(unittest.TestCase):
    def setUp(self):
        self.dispatcher = kw.Dispatcher()
        self.lib = kw.Library('s', dispatcher=self.dispatcher)
        self.ops = self.dispatcher.ops.s

    def tearDown(self):
        del self.ops
        self.lib.close()
        self.lib.drain()
        self.lib.destroy()

    def define(self, schema, function, key='CPU'):
        self.lib.define(schema)
        self.lib.impl(schema.split('(')[0], key, function)


class Handlers(Case):
    def setUp(self):
        super().setUp()
        Counting.calls.clear()
        self.define('first(Tensor x, int k=1) -> Tensor', lambda x, k: x)
        self.define('fresh(Tensor x) -> Tensor', lambda x: kw.empty(x.shape))
        self.define('many(Tensor[] xs, Tensor?[] ys) -> int', lambda xs, ys: len(xs) + len(ys))
        self.define('two(Tensor x) -> (Tensor, int)', lambda x: (x, 5))
        self.define('none(Tensor x) -> ()', lambda x: None)

    def test_instance_has_the_keys_of_python(self):
        plain, taken = kw.empty((2,)), Counting.make_subclass(kw.empty((2,)))
        self.assertEqual(taken.keys, plain.keys | 'Python' | 'PythonTLSSnapshot')
        self.assertEqual(Plain.make_subclass(plain).keys, plain.keys)

    def test_handler_gets_operator_types_and_arguments(self):
        t = Counting.make_subclass(kw.empty((2,)))
        self.ops.first(t, 3)
        name, types, args, kwargs = Counting.calls[0]
        self.assertEqual((name, types, args[1:], kwargs), ('s::first', (Counting,), (3,), {}))
        self.assertIs(args[0], t)

    def test_arguments_that_equal_their_defaults_are_left_out(self):
        t = Counting.make_subclass(kw.empty((2,)))
        self.define('more(Tensor x, int[2] k=1, Tensor? y=None, *, float s=2, str? name=None) -> Tensor',
                    lambda x, k, y, **rest: x)
        for args, kwargs, seen in (
                ((1,), {}, ((), {})), (([1, 1], None), {'s': 2.0}, ((), {})),
                (([1, 2],), {}, (([1, 2],), {})), ((1, t), {}, (([1, 1], t), {})),
                ((), {'s': 3, 'name': 'n'}, ((), {'s': 3.0, 'name': 'n'}))):
            self.ops.more(t, *args, **kwargs)
            self.assertEqual((Counting.calls[-1][2][1:], Counting.calls[-1][3]), seen)

    def test_class_is_asked_before_those_it_derives_from(self):
        asked = []

        class Base(kw.Tensor):
            @classmethod
            def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
                asked.append((cls, types))
                return NotImplemented

        class Derived(Base):
            pass
        base, derived = Base.make_subclass(kw.empty((1,))), Derived.make_subclass(kw.empty((1,)))
        with self.assertRaisesRegex(TypeError, 's::many.*Derived.*Base.*NotImplemented'):
            self.ops.many([base, derived, base], [])
        self.assertEqual(asked, [(Derived, (Derived, Base)), (Base, (Derived, Base))])

    def test_super_reaches_the_kernel_once(self):
        t = Counting.make_subclass(kw.empty((2,)))
        self.assertIs(self.ops.first(t), t)
        self.assertEqual(len(Counting.calls), 1)

    def test_wrapper_has_metadata_only(self):
        w = Wrapper.around(kw.empty((2, 3), dtype=kw.int32))
        self.assertEqual((w.shape, w.dtype, w.data_ptr), ((2, 3), kw.int32, 0))
        self.assertIsInstance(self.ops.fresh(w), Wrapper)
        self.assertEqual(self.ops.fresh(w).shape, (2, 3))

    def test_strides_of_a_wrapper_are_those_given(self):
        w = Wrapper.make_wrapper((2, 3), strides=(1, 2), dtype='float64', device='cuda:1')
        self.assertEqual((w.strides, w.dtype, w.device), ((1, 2), kw.float64, kw.Device('cuda:1')))
        self.assertIn('CUDA', w.keys)

    def test_lists_are_looked_through(self):
        t = Counting.make_subclass(kw.empty((2,)))
        self.assertEqual(self.ops.many([kw.empty((1,)), t], [None, t]), 4)
        self.assertEqual(self.ops.many([], [t]), 1)
        self.assertEqual(len(Counting.calls), 2)

    def test_returns_of_all_shapes_arrive(self):
        t = Counting.make_subclass(kw.empty((2,)))
        self.assertEqual(self.ops.two(t)[1], 5)
        self.assertIsNone(self.ops.none(t))

    def test_wrong_return_is_refused(self):
        class Wrong(kw.Tensor):
            answer = None

            @classmethod
            def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
                return cls.answer
        t = Wrong.make_subclass(kw.empty((2,)))
        for answer in ('text', 3, (1, 2)):
            Wrong.answer = answer
            with self.assertRaises((TypeError, kw.Error)):
                self.ops.first(t)

    def test_exception_comes_out_as_it_is(self):
        class Failing(kw.Tensor):
            @classmethod
            def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
                raise KeyError('mine')
        with self.assertRaises(KeyError):
            self.ops.first(Failing.make_subclass(kw.empty((2,))))
        self.assertEqual(kw.local_sets(), self.sets)

    @property
    def sets(self):
        return kw.KeySet('BackendSelect | ADInplaceOrView'), kw.local_sets()[1]

    def test_redispatch_from_a_handler_stays_below(self):
        class Low(kw.Tensor):
            @classmethod
            def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
                return op.redispatch('CPU', *args, **(kwargs or {}))
        t = Low.make_subclass(kw.empty((2,)))
        self.assertIs(self.ops.first(t), t)

    def test_keys_above_python_are_excluded_in_a_handler(self):
        seen = []
        self.lib.impl('first', 'AutogradCPU', lambda x, k: seen.append('autograd') or self.ops.fresh(x))

        class Looking(kw.Tensor):
            @classmethod
            def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
                seen.append(op.name)
                return super().__kw_dispatch__(op, types, args, kwargs)
        with kw.below_autograd():
            pass
        self.ops.first(Looking.make_subclass(kw.empty((2,))))
        self.assertEqual(seen, ['autograd', 's::fresh'])

    def test_switched_off_handlers_are_not_asked(self):
        t = Counting.make_subclass(kw.empty((2,)))
        with kw.no_python_dispatch():
            self.assertIs(self.ops.first(t), t)
        self.assertEqual(Counting.calls, [])

    def test_handler_without_override_goes_straight_to_the_kernel(self):
        p = Plain.make_subclass(kw.empty((2,)))
        p.mark = 7
        self.assertIs(self.ops.first(p), p)

    def test_instance_shares_memory_and_version_with_its_tensor(self):
        plain = kw.empty((4,))
        t = Counting.make_subclass(plain)
        self.assertTrue(t.shares_storage(plain))
        plain.bump_version()
        self.assertEqual((t.version, t.data_ptr), (plain.version, plain.data_ptr))

    def test_threads_each_run_their_handlers(self):
        failures = []

        def run():
            try:
                t = Wrapper.around(kw.empty((3,)))
                for _ in range(200):
                    assert self.ops.fresh(t).shape == (3,)
            except BaseException as failure:
                failures.append(failure)
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Holder:
    """C code that has a reference to a tensor, and nothing of Python's."""

    places = itertools.count()

    def __init__(self, ops, tensor):
        self.ops, self.place = ops, next(self.places) % 64
        with kw.no_python_dispatch():
            ops.keep(self.place, tensor)

    def get(self):
        return self.ops.give(self.place)

    def drop(self):
        self.ops.drop(self.place)

    def drop_on_thread(self):
        self.ops.drop_on_thread(self.place)


class Identity(Case):
    """The C side keeps a tensor while Python lets go of its object, and the reverse."""

    def setUp(self):
        super().setUp()
        self.define('echo(Tensor x) -> Tensor', lambda x: x)
        self.define('list(Tensor x) -> Tensor[]', lambda x: [x, x])
        self.plugin = self.dispatcher.load_plugin(os.environ['PYTHON_TEST_OBJECTS'] + '/python_hold.so')
        self.ops_of_plugin = self.dispatcher.ops.hold

    def tearDown(self):
        del self.ops_of_plugin
        self.plugin.unload()
        super().tearDown()

    def held(self, tensor):
        return Holder(self.ops_of_plugin, tensor)

    def test_same_tensor_gives_same_object(self):
        for t in (kw.empty((2,)), Counting.make_subclass(kw.empty((2,))), Plain.make_subclass(kw.empty((2,)))):
            self.assertIs(self.ops.echo(t), t)
            self.assertTrue(all(item is t for item in self.ops.list(t)))

    def test_object_lives_on_while_c_has_the_tensor(self):
        for cls in (Plain, Counting):
            t = cls.make_subclass(kw.empty((2,)))
            t.mark = [1, 2]
            reference, holder = weakref.ref(t), self.held(t)
            for _ in range(3):
                del t
                gc.collect()
                self.assertIsNotNone(reference())
                t = holder.get()
                self.assertIs(reference(), t)
                self.assertEqual((t.mark, type(t)), ([1, 2], cls))
            holder.drop()
            self.assertEqual(t.mark, [1, 2])
            del t
            self.assertIsNone(reference())

    def test_object_ends_with_the_tensor_when_c_lets_go_last(self):
        t = Plain.make_subclass(kw.empty((2,)))
        reference, holder = weakref.ref(t), self.held(t)
        del t
        self.assertIsNotNone(reference())
        holder.drop()
        self.assertIsNone(reference())

    def test_c_lets_go_on_a_thread_of_its_own(self):
        t = Plain.make_subclass(kw.empty((2,)))
        reference, holder = weakref.ref(t), self.held(t)
        del t
        holder.drop_on_thread()
        self.assertIsNone(reference())

    def test_lent_object_reached_through_a_weak_reference(self):
        t = Plain.make_subclass(kw.empty((3,)))
        reference, holder = weakref.ref(t), self.held(t)
        del t
        again = reference()
        self.assertEqual(again.shape, (3,))
        holder.drop()
        self.assertIs(self.ops.echo(again), again)
        del again
        self.assertIsNone(reference())

    def test_lent_object_whose_tensor_has_ended_is_undefined(self):
        t = Plain.make_subclass(kw.empty((3,)))
        reference, holder = weakref.ref(t), self.held(t)
        del t
        again = reference()
        holder.drop()
        self.assertNotIn('CPU', again.keys)

    def test_cycle_lives_on_while_c_has_the_tensor(self):
        t = Plain.make_subclass(kw.empty((2,)))
        t.cycle = {'me': t}
        holder = self.held(t)
        for _ in range(3):
            del t
            gc.collect()
            t = holder.get()
            self.assertIs(t.cycle['me'], t)
        reference = weakref.ref(t)
        holder.drop()
        del t
        gc.collect()
        self.assertIsNone(reference())

    def test_cycle_is_collected_when_c_lets_go_first(self):
        t = Plain.make_subclass(kw.empty((2,)))
        t.cycle = [t]
        reference, holder = weakref.ref(t), self.held(t)
        holder.drop()
        del t
        gc.collect()
        self.assertIsNone(reference())

    def test_cycle_is_collected_when_c_lets_go_last(self):
        t = Plain.make_subclass(kw.empty((2,)))
        t.cycle = [t]
        alive, holder = kw.statistics()['tensor_count'], self.held(t)
        del t
        gc.collect()
        self.assertEqual(kw.statistics()['tensor_count'], alive)
        holder.drop()
        gc.collect()
        self.assertEqual(kw.statistics()['tensor_count'], alive - 1)

    def test_wrapped_tensor_lives_as_long_as_its_wrapper(self):
        w = Wrapper.around(kw.empty((2,)))
        inner, holder = weakref.ref(w.inner), self.held(w)
        del w
        gc.collect()
        self.assertIsNotNone(inner())
        holder.drop()
        gc.collect()
        self.assertIsNone(inner())

    def test_nothing_is_left_of_a_thousand_tensors(self):
        def round_trip():
            t = Plain.make_subclass(kw.empty((2,)))
            t.me = t
            holder = self.held(t)
            del t
            t = holder.get()
            holder.drop()
            w = Wrapper.around(t)
            self.ops.echo(w)
        round_trip()
        gc.collect()
        before = kw.statistics()['tensor_count']
        for _ in range(1000):
            round_trip()
        gc.collect()
        self.assertEqual(kw.statistics()['tensor_count'], before)

    def test_threads_let_go_while_python_takes(self):
        """C threads take and drop references at all times; every tensor that comes back is whole."""
        hold, missing, weak = self.ops_of_plugin, object(), 0
        hold.churn(True)
        try:
            references = [None] * 64
            for number in range(6400):
                place = number % 64
                t = hold.give(place)
                if t is not None:
                    self.assertEqual(t.mark[0] % 64, place)
                    self.assertEqual((type(t), t.shape), (Plain, (2,)))
                reached = references[place] and references[place]()
                if reached is not None:
                    weak += 1
                    self.assertEqual(getattr(reached, 'mark', missing)[0] % 64, place)
                    self.assertIn(reached.shape, [(2,), ()])
                    del reached
                t = Plain.make_subclass(kw.empty((2,)))
                t.mark = [number]
                if number % 3 == 0:
                    t.cycle = t
                references[place] = weakref.ref(t)
                hold.keep(place, t)
                del t
        finally:
            hold.churn(False)
        for place in range(64):
            hold.drop(place)
        gc.collect()
        self.assertGreater(weak, 100)
        self.assertTrue(all(reference() is None for reference in references))

    def test_object_whose_class_forgets_super_ends_and_the_tensor_goes_on(self):
        class Forgetful(Counting):
            def __del__(self):
                pass
        t = Forgetful.make_subclass(kw.empty((2,)))
        holder = self.held(t)
        del t
        t = holder.get()
        self.assertIs(type(t), kw.Tensor)
        with self.assertRaisesRegex(TypeError, 'super'):
            self.ops.echo(t)

    def test_del_of_a_subclass_runs_once(self):
        ended = []

        class Ending(kw.Tensor):
            def __del__(self):
                ended.append(self.mark)
                super().__del__()
        t = Ending.make_subclass(kw.empty((2,)))
        t.mark = 1
        del t
        self.assertEqual(ended, [1])


if __name__ == '__main__':
    unittest.main()
