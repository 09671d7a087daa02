// Scenarios: lists of statements that define, register, remove and call, and their text.
//
// The text is the language of `keyway explain`, one statement a line: see scenario.cpp.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_SCENARIO_H
#define DIFFERENTIAL_SCENARIO_H

#include <string>
#include <vector>

#include <keyway/key.h>
#include <keyway/keyset.h>

namespace differential {

// Every scenario lives in one namespace and one library.
inline constexpr const char *name_space = "t";

// The kernel name of every fallthrough.
inline constexpr const char *fallthrough = "fallthrough";

enum class Verb {
    bare,
    library,
    define,
    impl,
    fallback,
    remove_define,
    remove_impl,
    remove_fallback,
    include,
    exclude,
    reset,
    call,
    table
};

struct Statement {
    Verb verb = Verb::reset;
    unsigned number = 0;      // counted as generated; shrinking keeps it
    std::string op;           // without its namespace
    std::string schema;       // define: what follows the operator's name
    kw_key key = 0;           // impl: Undefined is the catch-all
    std::string kernel;       // impl, fallback
    std::vector<kw_key> keys; // include, exclude, call
};

using Scenario = std::vector<Statement>;

std::string text_of(const Statement &statement);

// Reads one statement that is neither blank nor a comment. On failure `*why` says what is wrong.
bool read_statement(const std::string &line, Statement *out, std::string *why);

std::string names_of(const std::vector<kw_key> &keys);

kw_keyset set_of(const std::vector<kw_key> &keys);

// What a removal takes back: define, impl or fallback. Any other verb is returned as it is.
Verb taken_back(Verb verb);

// Whether the statement changes what is registered.
bool is_registering(Verb verb);

} // namespace differential

#endif // DIFFERENTIAL_SCENARIO_H
