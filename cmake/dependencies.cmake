# Finds what the library links with. Installed too: a program that links a static Keyway needs the
# same libraries, and the installed package finds them with this file.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(KEYWAY_URCU REQUIRED QUIET IMPORTED_TARGET liburcu-bp>=0.13)
pkg_check_modules(KEYWAY_CK REQUIRED QUIET IMPORTED_TARGET ck)
pkg_check_modules(KEYWAY_FFI REQUIRED QUIET IMPORTED_TARGET libffi)
