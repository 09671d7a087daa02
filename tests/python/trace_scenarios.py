# Scenarios of handlers that take over operators, in the words of trace_worlds.py.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

from trace_worlds import pass_on


def unwrap_then_call(world):
    """A handler that goes below for instances: replaces them by the tensors that they wrap."""
    def handle(cls, op, types, args, kwargs):
        return op(*[getattr(a, 'held', a) for a in args], **kwargs)
    return handle


def wrapping(world, cls):
    made = world.wrapper(cls)
    made.held = world.fresh()
    return made


def plain(world):
    world.note('returned', world.show(world.op('one')(world.fresh())))
    world.note('returned', world.show(world.op('nothing')(3)))


def subclass_unwraps(world):
    cls = world.subclass('Wrapped', unwrap_then_call(world))
    for call in (lambda t: world.op('one')(t), lambda t: world.op('two')(world.fresh(), t), lambda t: world.op('pair')(t)):
        world.note('returned', world.show(call(wrapping(world, cls))))


def subclass_in_list(world):
    def handle(cls, op, types, args, kwargs):
        return op([getattr(a, 'held', a) for a in args[0]], *args[1:])
    cls = world.subclass('Listed', handle)
    world.op('many')([world.fresh(), wrapping(world, cls), wrapping(world, cls)])
    world.op('many')([wrapping(world, cls)], [3])


def defaults_are_left_out(world):
    mode = world.mode('Mode', pass_on)
    x = world.fresh()
    with mode:
        world.op('two')(x)
        world.op('two')(x, None, 2)
        world.op('two')(x, None, 3)
        world.op('two')(x, x)
        world.op('two')(x, k=5)
        world.op('two')(x, s=2.0)
        world.op('two')(x, s=1.0, name='other')
        world.op('many')([x], [1, 2])
        world.op('many')([x, x], [2, 1])
        world.op('many')([])


def mode_sees_all(world):
    mode = world.mode('Mode', pass_on)
    x = world.fresh()
    with mode:
        world.op('one')(x)
        world.op('nothing')(4)
        world.op('pair')(x)
        world.note('same', world.op('write_')(x) is x)
    world.op('one')(x)


def modes_nest(world):
    outer, inner = world.mode('Outer', pass_on), world.mode('Inner', pass_on)
    x = world.fresh()
    with outer:
        world.op('nothing')(1)
        with inner:
            world.op('nothing')(2)
            world.op('one')(x)
        world.op('nothing')(3)


def mode_answers(world):
    mode = world.mode('Mode', lambda mode, op, types, args, kwargs: 77)
    outer = world.mode('Outer', pass_on)
    with outer, mode:
        world.note('returned', world.op('nothing')(1))


def mode_before_subclass(world):
    cls = world.subclass('Wrapped', unwrap_then_call(world))
    mode = world.mode('Mode', pass_on)
    t, x = wrapping(world, cls), world.fresh()
    with mode:
        world.op('one')(t)
        world.op('two')(x, t, 4)


def mode_inside_handler_of_subclass(world):
    mode = world.mode('Inside', pass_on)

    def handle(cls, op, types, args, kwargs):
        with mode:
            return op(*[getattr(a, 'held', a) for a in args], **kwargs)
    world.op('one')(wrapping(world, world.subclass('Wrapped', handle)))


def derived_before_base(world):
    base = world.subclass('Base', unwrap_then_call(world))
    derived = world.subclass('Derived', unwrap_then_call(world), (base,))
    world.op('two')(wrapping(world, base), wrapping(world, derived))
    world.op('two')(wrapping(world, derived), wrapping(world, base))


def not_implemented_asks_the_next(world):
    refusing = world.subclass('Refusing', lambda *args: NotImplemented)
    serving = world.subclass('Serving', unwrap_then_call(world))

    def both(cls, op, types, args, kwargs):
        return op(*[world.fresh() for a in args], **kwargs)
    last = world.subclass('Last', both)
    world.op('two')(wrapping(world, refusing), wrapping(world, last))
    world.op('two')(wrapping(world, last), wrapping(world, refusing))
    failed(world, lambda: world.op('one')(wrapping(world, refusing)), TypeError)
    world.op('one')(wrapping(world, serving))


def mode_that_refuses(world):
    refusing = world.mode('Refusing', lambda *args: NotImplemented)
    t = wrapping(world, world.subclass('Wrapped', unwrap_then_call(world)))
    with refusing:
        failed(world, lambda: world.op('one')(t), TypeError)
        failed(world, lambda: world.op('nothing')(1), TypeError)


def exceptions_leave_the_stack_right(world):
    def fail(mode, op, types, args, kwargs):
        if args == (0,):
            raise KeyError('zero')
        return op(*args, **kwargs)
    outer, inner = world.mode('Outer', fail), world.mode('Inner', pass_on)
    with outer, inner:
        failed(world, lambda: world.op('nothing')(0), KeyError)
        world.op('nothing')(5)
    failed_in_block(world, outer)
    world.op('nothing')(6)


def failed_in_block(world, mode):
    try:
        with mode:
            world.op('nothing')(7)
            raise KeyError('in the block')
    except KeyError:
        world.note('left')


def failed(world, call, kind):
    try:
        call()
        world.note('no exception')
    except kind:
        world.note('raised', kind.__name__)


def super_goes_below(world):
    def handle(cls, op, types, args, kwargs):
        return getattr(world.Tensor, world.METHOD)(op, types, args, kwargs)
    cls = world.subclass('Wrapped', handle)
    world.op('two')(world.wrap(cls, world.fresh()), k=3)


def switched_off(world):
    cls = world.subclass('Wrapped', unwrap_then_call(world))
    t = world.wrap(cls, world.fresh())
    with world.off():
        world.op('one')(t)
        world.op('nothing')(2)
    world.op('one')(wrapping(world, cls))


def handlers_call_other_operators(world):
    def handle(mode, op, types, args, kwargs):
        if world.op_name(op) == 'one':
            world.op('nothing')(8)
            first, second = world.op('pair')(*args)
            return second
        return op(*args, **kwargs)
    outer = world.mode('Outer', pass_on)
    x = world.fresh()
    with outer, world.mode('Inner', handle):
        world.op('one')(x)


def mode_twice(world):
    mode = world.mode('Mode', pass_on)
    with mode:
        world.op('nothing')(1)
    with mode:
        world.op('nothing')(2)


def instances_of_both_kinds(world):
    a, b = world.subclass('A', unwrap_then_call(world)), world.subclass('B', unwrap_then_call(world))
    x, y = wrapping(world, a), wrapping(world, b)
    world.op('two')(x, y)
    with world.mode('Mode', pass_on):
        world.op('two')(y, x, 3)


def layers_above_handlers(world):
    """Autograd comes first; what a handler calls does not come to it again."""
    x, t = world.fresh(), wrapping(world, world.subclass('Wrapped', unwrap_then_call(world)))
    world.op('layered')(x)
    world.op('layered')(t, 5)
    with world.mode('Mode', pass_on):
        world.op('layered')(x)
        world.op('layered')(t)


def handlers_call_layered_operators(world):
    def handle(mode, op, types, args, kwargs):
        if world.op_name(op) == 'one':
            return world.op('layered')(*args)
        return op(*args, **kwargs)
    x = world.fresh()
    with world.mode('Mode', handle):
        world.op('one')(x)
    world.op('layered')(x)


def switched_off_layers_stay(world):
    x, t = world.fresh(), world.wrap(world.subclass('Wrapped', unwrap_then_call(world)), world.fresh())
    with world.off():
        world.op('layered')(x)
        world.op('layered')(t)


def identity_through_operators(world):
    cls = world.subclass('Kept', lambda cls, op, types, args, kwargs: args[0])
    t = wrapping(world, cls)
    t.mark = 'mark'
    world.note('same', world.op('one')(t) is t, world.op('one')(t).mark)


ALL = [value for value in list(globals().values())
       if callable(value) and getattr(value, '__code__', None) is not None
       and value.__code__.co_argcount == 1 and value.__name__ != 'unwrap_then_call']
