# The route: every ATen call of a program goes to a Keyway operator of the same schema.
#
# Layer:   example
# Threads: one route serves one thread at a time.
# SPDX-License-Identifier: MIT

import collections

import keyway as kw
from torch.utils._python_dispatch import TorchDispatchMode

import exchange


def full_name(schema):
    return schema.name + ('.' + schema.overload_name if schema.overload_name else '')


class RoutedOperator:
    """One ATen operator and the Keyway operator that stands for it."""

    def __init__(self, route, torch_op):
        schema = torch_op._schema
        self.torch_op = torch_op
        self.count = 0  # calls that PyTorch has made
        self.kernel_count = 0  # runs of the kernel in Python
        self.name = full_name(schema)
        library = route.library(schema.name.split('::')[0])
        library.define(str(schema))
        library.impl(self.name, 'CompositeExplicitAutograd', self.kernel)
        self.op = route.dispatcher.operator(self.name)
        arguments = self.op.schema.args
        self.positional = [exchange.converters(a.type) for a in arguments if not a.keyword_only]
        self.keywords = {a.name: exchange.converters(a.type) for a in arguments}

    def convert(self, direction, args, kwargs):
        positional = [pair[direction](value) for pair, value in zip(self.positional, args)]
        return positional, {name: self.keywords[name][direction](value) for name, value in kwargs.items()}

    def call(self, args, kwargs):
        """Calls the Keyway operator with values of PyTorch's and gives back such values."""
        self.count += 1
        args, kwargs = self.convert(exchange.TO_KEYWAY, args, kwargs)
        return exchange.result_to_torch(self.op(*args, **kwargs))

    def kernel(self, *args, **kwargs):
        """The kernel in Python for every backend: PyTorch's own operator, below everything."""
        self.kernel_count += 1
        theirs, their_kwargs = self.convert(exchange.TO_TORCH, args, kwargs)
        result = self.torch_op(*theirs, **their_kwargs)
        return exchange.result_to_keyway(result, [*args, *kwargs.values()])


class Route:
    """A dispatcher with the operators that programs have asked for, made on the first call of each."""

    def __init__(self, plugin=None):
        self.dispatcher = kw.Dispatcher()
        self.libraries = {}
        self.operators = {}
        self.plugin = self.dispatcher.load_plugin(plugin) if plugin else None

    def library(self, namespace):
        if namespace not in self.libraries:
            self.libraries[namespace] = kw.Library(namespace, 'fragment', dispatcher=self.dispatcher)
        return self.libraries[namespace]

    def operator(self, torch_op):
        if torch_op not in self.operators:
            self.operators[torch_op] = RoutedOperator(self, torch_op)
        return self.operators[torch_op]

    def run(self, program):
        """Runs a program of PyTorch with each of its calls routed."""
        with RouteMode(self):
            return program()

    def counts(self):
        """For each operator: calls that came, and runs of its kernels in Python and in C."""
        return {routed.name: (routed.count, routed.kernel_count, self.served(routed.name))
                for routed in self.operators.values()}

    def served(self, name):
        """How often a kernel in C has computed the operator."""
        if self.plugin is None or not self.dispatcher.operator(name).has_kernel('CPU'):
            return 0
        return self.dispatcher.ops.torch_route.count(name)[0]

    def close(self):
        for library in self.libraries.values():
            library.close()
        if self.plugin is not None:
            self.plugin.unload()
        for library in self.libraries.values():
            library.drain()
            library.destroy()
        self.operators.clear()


class RouteMode(TorchDispatchMode):
    """Catches what a program calls below autograd."""

    def __init__(self, route):
        super().__init__()
        self.route = route

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.route.operator(func).call(args, kwargs or {})


class CountMode(TorchDispatchMode):
    """Counts the calls of a program and lets them pass: what a route has to have seen."""

    def __init__(self):
        super().__init__()
        self.counts = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[full_name(func._schema)] += 1
        return func(*args, **(kwargs or {}))
