# Somebody else's program with the installed Python package: consumer.py <prefix>.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import pathlib
import sys

import keyway as kw

prefix = pathlib.Path(sys.argv[1]).resolve()
package = pathlib.Path(kw.__file__).resolve().parent
assert package.is_relative_to(prefix), package
assert (package / "py.typed").is_file() and (package / "__init__.pyi").is_file()
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libkeyway" in line}
assert mapped and all(pathlib.Path(path).is_relative_to(prefix) for path in mapped), mapped

lib = kw.Library("consumer")
lib.define("twice(Tensor x) -> Tensor")


@lib.impl("twice", "CPU")
def twice(x):
    y = x.clone()
    y[0] = 2 * x[0].item()
    return y


x = kw.empty(1, dtype="float64")
x[...] = 21.0
assert kw.default.ops.consumer.twice(x).item() == 42.0
