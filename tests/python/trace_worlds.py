# Two worlds with the same words: PyTorch, and Keyway, each as a place where handlers take over operators.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT
#
# A scenario is written once, in these words, and run in both; the traces must be equal. What differs
# between the two in form only (names of operators and classes) is made equal here.

import contextlib

SCHEMAS = (
    'one(Tensor x) -> Tensor',
    'two(Tensor x, Tensor? y=None, int k=2, *, float s=1.0, str name="n") -> Tensor',
    'many(Tensor[] xs, int[] sizes=[1, 2]) -> Tensor',
    'pair(Tensor x) -> (Tensor, Tensor)',
    'nothing(int n) -> int',
    'write_(Tensor(a!) x) -> Tensor(a!)',
    'layered(Tensor x, int k=0) -> Tensor',
)


class World:
    """What scenarios use. Subclasses say how it is done."""

    def __init__(self):
        self.trace = []
        self.serial = 0

    def note(self, *words):
        self.trace.append(' '.join(str(word) for word in words))

    def show(self, value):
        if isinstance(value, (list, tuple)):
            return '[' + ', '.join(self.show(item) for item in value) + ']'
        if isinstance(value, self.Tensor):
            return type(value).__name__
        return repr(value)

    def show_call(self, who, op, types, args, kwargs):
        shown = ', '.join([self.show(a) for a in args] + [f'{k}={self.show(v)}' for k, v in (kwargs or {}).items()])
        names = ', '.join(t.__name__ for t in types)
        self.note(who, self.op_name(op), f'types ({names})', f'args ({shown})')

    def kernel(self, name, result):
        def run(*args, **kwargs):
            self.note('kernel', name)
            return result(*args)
        return run

    def layer(self, name):
        """A kernel of autograd, which goes on below."""
        def run(x, k=0):
            self.note('autograd', name)
            with self.below_autograd():
                return self.op(name)(x, k + 1)
        return run

    def kernels(self):
        """The kernels of SCHEMAS, by name."""
        return {'one': lambda x: self.fresh(), 'two': lambda x, *rest: self.fresh(),
                'many': lambda xs, *rest: self.fresh(), 'pair': lambda x: (self.fresh(), self.fresh()),
                'nothing': lambda n: n + 1, 'write_': lambda x: x, 'layered': lambda x, k=0: self.fresh()}

    def subclass(self, name, handle, bases=()):
        """A class of tensors whose operators `handle(cls, op, types, args, kwargs)` takes over."""
        def dispatch(cls, op, types, args=(), kwargs=None):
            self.show_call(f'{cls.__name__} of {name}', op, types, args, kwargs)
            return handle(cls, op, types, args, kwargs or {})
        return type(name, bases or (self.Tensor,), {self.METHOD: classmethod(dispatch), **self.MEMBERS})

    def mode(self, name, handle):
        """A mode whose operators `handle(self, op, types, args, kwargs)` takes over."""
        def dispatch(mode, op, types, args=(), kwargs=None):
            self.show_call(name, op, types, args, kwargs)
            return handle(mode, op, types, args, kwargs or {})
        return type(name, (self.Mode,), {self.METHOD: dispatch})()


def pass_on(owner, op, types, args, kwargs):
    """A handler that calls the operator again."""
    return op(*args, **kwargs)


class TorchWorld(World):
    METHOD = '__torch_dispatch__'

    def __init__(self):
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode
        super().__init__()
        self.torch, self.Tensor, self.Mode = torch, torch.Tensor, TorchDispatchMode
        self.MEMBERS = {'__torch_function__': torch._C._disabled_torch_function_impl}
        self.library = torch.library.Library('kwtrace', 'DEF')
        for schema in SCHEMAS:
            self.library.define(schema)
        for name, result in self.kernels().items():
            self.library.impl(name, self.kernel(name, result), 'CompositeExplicitAutograd')
        self.library.impl('layered', self.layer('layered'), 'AutogradCPU')
        self.ops = torch.ops.kwtrace

    def close(self):
        self.library = None

    def op(self, name):
        return getattr(self.ops, name).default

    def op_name(self, op):
        return op._schema.name.split('::')[1]

    def fresh(self):
        return self.torch._C._VariableFunctions.empty((2,))

    def wrap(self, cls, tensor):
        return self.torch.Tensor._make_subclass(cls, tensor)

    def wrapper(self, cls):
        return self.torch.Tensor._make_wrapper_subclass(cls, (2,), dtype=self.torch.float32)

    def off(self):
        from torch.utils._mode_utils import no_dispatch
        return no_dispatch()

    @contextlib.contextmanager
    def below_autograd(self):
        guard = self.torch._C._AutoDispatchBelowAutograd()
        yield
        del guard


class KeywayWorld(World):
    METHOD = '__kw_dispatch__'
    MEMBERS = {}

    def __init__(self):
        import keyway
        super().__init__()
        self.kw, self.Tensor, self.Mode = keyway, keyway.Tensor, keyway.DispatchMode
        self.dispatcher = keyway.Dispatcher()
        self.library = keyway.Library('kwtrace', dispatcher=self.dispatcher)
        for schema in SCHEMAS:
            self.library.define(schema)
        for name, result in self.kernels().items():
            self.library.impl(name, 'CompositeExplicitAutograd', self.kernel(name, result))
        self.library.impl('layered', 'AutogradCPU', self.layer('layered'))
        self.ops = self.dispatcher.ops.kwtrace

    def close(self):
        self.library.close()
        self.library.drain()
        self.library.destroy()

    def op(self, name):
        return getattr(self.ops, name).default

    def op_name(self, op):
        return op.name.split('::')[1]

    def fresh(self):
        return self.kw.empty((2,))

    def wrap(self, cls, tensor):
        return cls.make_subclass(tensor)

    def wrapper(self, cls):
        return cls.make_wrapper((2,))

    def off(self):
        return self.kw.no_python_dispatch()

    def below_autograd(self):
        return self.kw.below_autograd()
