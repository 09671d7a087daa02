# The stub: __init__.pyi says of the package what is there, no more and no less.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import ast
import inspect
import pathlib
import types
import unittest

import keyway as kw

import support

STUB = pathlib.Path(kw.__file__).with_name("__init__.pyi")

# What every class may have without saying so.
ORDINARY = set(dir(type("Empty", (), {}))) | {
    "__getstate__", "__slots__", "__annotations__", "__orig_bases__", "__match_args__",
    "__repr__", "__str__", "__reduce__", "__eq__", "__ne__", "__dir__", "__format__", "__ge__",
    "__gt__", "__lt__", "__new__", "__init__", "__xor__", "__rand__", "__ror__", "__rxor__",
    "__release_buffer__", "__static_attributes__", "__firstlineno__", "__replace__",
    "__rsub__", "__bool__", "__delitem__", "__getattr__", "__iter__", "__getitem__", "__call__",
    "__del__",
}

# Taking over operators, which a package may be built without.
TAKING_OVER = {"DispatchMode", "no_python_dispatch", "python_dispatcher", "current_modes", "resolve",
               "__kw_dispatch__", "make_subclass", "make_wrapper"}
ABSENT = set() if hasattr(kw, "DispatchMode") else TAKING_OVER


def declared(body):
    """Maps each name of a body to its node; of overloads, to the first."""
    names = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.setdefault(node.name, node)
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.Assign):
            names[node.targets[0].id] = node
    return names


def parameters(node):
    """The parameters of a stub's function as (name, kind, has a default), as inspect says them."""
    arguments, kinds = node.args, inspect.Parameter
    positional = [(a, kinds.POSITIONAL_ONLY) for a in arguments.posonlyargs]
    positional += [(a, kinds.POSITIONAL_OR_KEYWORD) for a in arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    result = [(a.arg, kind, i >= first_default) for i, (a, kind) in enumerate(positional)]
    if arguments.vararg:
        result.append((arguments.vararg.arg, kinds.VAR_POSITIONAL, False))
    result += [(a.arg, kinds.KEYWORD_ONLY, default is not None)
               for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        result.append((arguments.kwarg.arg, kinds.VAR_KEYWORD, False))
    return result


def actual(function, is_bound):
    """The same of a function; None where Python cannot say."""
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:
        return None
    result = [(p.name, p.kind, p.default is not p.empty) for p in found]
    return result[1:] if is_bound and result and result[0][0] in ("self", "cls") else result


def without_self(node):
    decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    names = parameters(node)
    return names if "staticmethod" in decorators else names[1:]


class StubTest(unittest.TestCase):
    def setUp(self):
        self.stub = declared(ast.parse(STUB.read_text()).body)
        self.public = {name for name, value in vars(kw).items() if not name.startswith("_") and
                       not isinstance(value, types.ModuleType)} | {"default"}

    def same_signature(self, name, expected, function, is_bound=False):
        found = actual(function, is_bound)
        if found is None:
            return
        # Names that a caller cannot use may differ.
        def plain(signature):
            hidden = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL,
                      inspect.Parameter.VAR_KEYWORD)
            return [(None if kind in hidden else name, kind, default)
                    for name, kind, default in signature]

        self.assertEqual(plain(found), plain(expected), name)

    def test_names_are_those_of_the_module(self):
        aliases = {"KeyLike", "KeysLike", "DTypeLike", "DeviceLike", "__version__"}
        names = {name for name in self.stub if not name.startswith("_")} - aliases
        names |= set(kw.DType.__members__)
        self.assertEqual(names - self.public - ABSENT, set(), "only in the stub")
        self.assertEqual(self.public - names, set(), "only in the module")

    def test_functions_have_the_signatures_of_the_stub(self):
        for name, node in self.stub.items():
            if isinstance(node, ast.FunctionDef) and hasattr(kw, name):
                self.same_signature(name, parameters(node), getattr(kw, name))

    def test_classes_have_the_members_of_the_stub(self):
        for name, node in self.stub.items():
            if not isinstance(node, ast.ClassDef) or not hasattr(kw, name):
                continue
            cls = getattr(kw, name)
            members = declared(node.body)
            inherited = self.inherited(node)
            for member, inner in members.items():
                with self.subTest(f"{name}.{member}"):
                    self.check_member(cls, member, inner)
            there = {m for m in dir(cls) if not m.startswith("_") or m.startswith("__")}
            extra = there - set(members) - inherited - ORDINARY - self.of_bases(cls)
            with self.subTest(name):
                self.assertEqual(extra, set(), "not in the stub")

    def inherited(self, node):
        names = set()
        for base in node.bases:
            parent = self.stub.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(parent, ast.ClassDef):
                names |= set(declared(parent.body)) | self.inherited(parent)
        return names

    def of_bases(self, cls):
        """Members that come from Python's own bases: int, tuple, Exception, IntEnum."""
        own = [base for base in cls.__mro__ if base.__module__ in ("builtins", "enum")]
        return set().union(*(dir(base) for base in own)) | (
            {"_fields", "_asdict", "__class_getitem__", "__members__"})

    def check_member(self, cls, member, node):
        if member in ABSENT or member == "__buffer__":  # before 3.12 buffers are known to C only
            return
        if isinstance(node, (ast.AnnAssign, ast.Assign)):
            # An attribute of instances, unless the class has it.
            return
        value = inspect.getattr_static(cls, member, None)
        self.assertIsNotNone(value, "only in the stub")
        decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        is_data = isinstance(value, (property, types.GetSetDescriptorType,
                                     types.MemberDescriptorType))
        self.assertEqual("property" in decorators, is_data)
        if not is_data and member not in ("__init__", "__new__") and not member.startswith("__"):
            function = getattr(cls, member)
            if "overload" in decorators:
                # Together they have every parameter, and each makes some of them obligatory.
                found = actual(function, True)
                names = {(name, kind) for name, kind, _ in without_self(node)}
                self.assertEqual({(name, kind) for name, kind, _ in found}, names)
                return
            self.same_signature(f"{cls.__name__}.{member}", without_self(node), function,
                                "staticmethod" not in decorators)

    def test_numbers_of_element_types_agree(self):
        for name in ("DType", "Layout", "MemoryFormat"):
            members = declared(self.stub[name].body)
            numbers = {n: node.value.value for n, node in members.items()
                       if isinstance(node, ast.Assign)}
            self.assertEqual(numbers, {m.name: int(m) for m in getattr(kw, name)})

    def test_checker_finds_what_differs(self):
        wrong = ast.parse("def empty(shape, dtype): ...").body[0]
        with self.assertRaises(AssertionError):
            self.same_signature("empty", parameters(wrong), kw.empty)


if __name__ == "__main__":
    support.main()
