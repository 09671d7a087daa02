// Checks for plain programs: each prints what does not hold, and done() says how many there were.
//
// Layer:   test
// Threads: any; the counter is atomic.
// SPDX-License-Identifier: MIT

#ifndef TESTS_CXX_CHECK_HPP
#define TESTS_CXX_CHECK_HPP

#include <atomic>
#include <cstdio>
#include <string>

#include <keyway/keyway.hpp>

namespace check {

inline std::atomic<int> failures{0};

inline bool holds(bool condition, const char *what, const char *file, int line)
{
    if (!condition) {
        std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
        failures++;
    }
    return condition;
}

// Whether `text` has every part, each of them somewhere.
inline bool has(const std::string &text, std::initializer_list<const char *> parts,
                const char *file, int line)
{
    bool all = true;
    for (const char *part : parts) {
        if (text.find(part) == std::string::npos) {
            std::fprintf(stderr, "%s:%d: failed: \"%s\" is not in \"%s\"\n", file, line, part,
                         text.c_str());
            failures++;
            all = false;
        }
    }
    return all;
}

inline void equal_texts(const std::string &found, const std::string &expected, const char *file,
                        int line)
{
    if (found != expected) {
        std::fprintf(stderr, "%s:%d: failed: \"%s\", expected \"%s\"\n", file, line, found.c_str(),
                     expected.c_str());
        failures++;
    }
}

// Runs `body`, which must throw a kw::error of this status; returns its text.
template <class Body> std::string throws(kw_status status, Body body, const char *file, int line)
{
    try {
        body();
    } catch (const kw::error &thrown) {
        if (thrown.status() != status) {
            std::fprintf(stderr, "%s:%d: failed: %s (%s), expected %s\n", file, line,
                         kw_status_name(thrown.status()), thrown.what(), kw_status_name(status));
            failures++;
        }
        return thrown.what();
    }
    std::fprintf(stderr, "%s:%d: failed: nothing was thrown, expected %s\n", file, line,
                 kw_status_name(status));
    failures++;
    return std::string();
}

inline int done()
{
    if (failures == 0) {
        std::puts("all checks hold");
    }
    return failures == 0 ? 0 : 1;
}

} // namespace check

#define CHECK(condition) check::holds(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_HAS(text, ...) check::has((text), {__VA_ARGS__}, __FILE__, __LINE__)
#define CHECK_TEXT(found, expected) check::equal_texts((found), (expected), __FILE__, __LINE__)
#define CHECK_THROWS(status, ...) check::throws((status), [&] { __VA_ARGS__; }, __FILE__, __LINE__)

#endif // TESTS_CXX_CHECK_HPP
