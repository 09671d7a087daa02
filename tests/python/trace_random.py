# Random scenarios of handlers: a description that a seed decides, and its run in a world.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import random

BEHAVIOURS = 'unwrap', 'unwrap', 'refuse', 'raise', 'answer', 'ask another'
CALLS = 'one', 'two', 'many', 'pair', 'nothing', 'layered'
TENSORS = 4  # plain ones, made before anything is watched


class Description:
    """What a scenario consists of, in plain data."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.modes = [self.choose(BEHAVIOURS) for _ in range(3)]
        self.classes = []  # (behaviour, index of the base or None)
        for i in range(3):
            base = self.choose([None, *range(i)])
            self.classes.append((self.choose(BEHAVIOURS), base))
        self.body = self.block(3)

    def choose(self, values):
        return self.random.choice(values)

    def block(self, depth):
        return [self.step(depth) for _ in range(self.random.randint(1, 3))]

    def step(self, depth):
        kind = self.choose(['call', 'call', 'call', 'mode', 'mode', 'off']) if depth else 'call'
        if kind == 'call':
            return kind, self.call()
        return kind, self.random.randrange(len(self.modes)), self.block(depth - 1)

    def tensor(self):
        """A plain tensor, or an instance of a class."""
        return self.choose(['plain', 'plain', *range(len(self.classes))]), self.random.randrange(TENSORS)

    def call(self):
        name = self.choose(CALLS)
        if name == 'nothing':
            return name, [self.random.randrange(9)], {}
        if name == 'many':
            return name, [[self.tensor() for _ in range(self.random.randint(0, 3))],
                          [1, self.random.randint(1, 2)]], {}
        if name == 'two':
            keywords = self.choose([{}, {'s': 1.0}, {'s': 2.5}, {'name': 'm'}])
            return name, [self.tensor(), self.choose([None, self.tensor()]), self.choose([2, 3])], keywords
        return name, [self.tensor()], {}


class Run:
    """A description in a world."""

    def __init__(self, world, description):
        self.world, self.description = world, description
        self.plain = [world.fresh() for _ in range(TENSORS)]
        self.classes = []
        for i, (behaviour, base) in enumerate(description.classes):
            bases = () if base is None else (self.classes[base],)
            self.classes.append(world.subclass(f'Class{i}', self.handler(behaviour), bases))
        self.modes = [world.mode(f'Mode{i}', self.handler(b)) for i, b in enumerate(description.modes)]
        self.instances = [[self.instance(cls, plain) for plain in self.plain] for cls in self.classes]

    def instance(self, cls, plain):
        made = self.world.wrapper(cls)
        made.held = plain
        return made

    def handler(self, behaviour):
        def handle(owner, op, types, args, kwargs):
            if behaviour == 'refuse':
                return NotImplemented
            if behaviour == 'raise':
                raise KeyError('from a handler')
            if behaviour == 'answer':
                return self.answer(op)
            if behaviour == 'ask another':
                self.world.op('nothing')(7)
            return op(*self.unwrapped(owner, args), **kwargs)
        return handle

    def answer(self, op):
        return {'nothing': 70, 'pair': (self.plain[0], self.plain[1])}.get(self.world.op_name(op), self.plain[2])

    def unwrapped(self, owner, values):
        """Instances of a class by what they hold; a mode leaves them."""
        if not isinstance(owner, type):
            return values
        return [self.unwrapped(owner, v) if isinstance(v, (list, tuple)) else getattr(v, 'held', v) for v in values]

    def value(self, described):
        if isinstance(described, list):
            return [self.value(item) for item in described]
        if not isinstance(described, tuple):
            return described
        kind, index = described
        return self.plain[index] if kind == 'plain' else self.instances[kind][index]

    def block(self, steps):
        for kind, *rest in steps:
            if kind == 'call':
                self.call(*rest[0])
            elif kind == 'mode':
                with self.modes[rest[0]]:
                    self.block(rest[1])
            else:
                with self.world.off():
                    self.block(rest[1])

    def call(self, name, args, kwargs):
        try:
            self.world.note('returned', self.world.show(self.world.op(name)(*self.value(args), **kwargs)))
        except (KeyError, TypeError) as failure:
            self.world.note('raised', type(failure).__name__)


def scenario(seed):
    def run(world):
        Run(world, Description(seed)).block(Description(seed).body)
    return run
