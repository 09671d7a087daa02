// Scenarios: printing and reading statements.
//
//     bare                            both are read and change nothing: every scenario plays on the
//     library A t FREE                original's fallbacks, in one library
//     define f(Tensor x) -> Tensor
//     impl f CPU k1                   a kernel, or `fallthrough`; the key CatchAll is no key
//     fallback AutogradMeta k2
//     remove impl f CPU k1
//     remove define f
//     remove fallback AutogradMeta
//     include CPU,Tracer              the thread's sets
//     exclude AutogradCPU
//     reset
//     call t::f CPU,AutogradCPU       the keys of the arguments
//     table t::f all
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "scenario.h"

#include <map>
#include <sstream>

namespace differential {

namespace {

const char catch_all[] = "CatchAll";

const std::map<Verb, const char *> words = {
    {Verb::bare, "bare"},
    {Verb::library, "library"},
    {Verb::define, "define"},
    {Verb::impl, "impl"},
    {Verb::fallback, "fallback"},
    {Verb::remove_define, "remove define"},
    {Verb::remove_impl, "remove impl"},
    {Verb::remove_fallback, "remove fallback"},
    {Verb::include, "include"},
    {Verb::exclude, "exclude"},
    {Verb::reset, "reset"},
    {Verb::call, "call"},
    {Verb::table, "table"},
};

std::string impl_text(const Statement &statement)
{
    std::string key = statement.key == KW_KEY_Undefined ? catch_all : kw_key_name(statement.key);
    return statement.op + " " + key + " " + statement.kernel;
}

bool read_key(const std::string &name, kw_key *out, std::string *why)
{
    kw_error err = KW_ERROR_INIT;
    if (kw_key_parse(name.c_str(), out, &err) != KW_OK) {
        *why = err.text;
        return false;
    }
    return true;
}

bool read_keys(const std::string &names, std::vector<kw_key> *out, std::string *why)
{
    std::istringstream stream(names);
    std::string name;
    while (std::getline(stream, name, ',')) {
        kw_key key = 0;
        if (!read_key(name, &key, why)) {
            return false;
        }
        out->push_back(key);
    }
    return true;
}

// Takes the namespace off an operator's name.
bool read_op(std::istringstream &words_left, bool is_full, std::string *out, std::string *why)
{
    const std::string prefix = std::string(name_space) + "::";
    words_left >> *out;
    if (is_full && out->compare(0, prefix.size(), prefix) == 0) {
        out->erase(0, prefix.size());
    } else if (is_full) {
        *why = "the operator's name should begin with " + prefix;
        return false;
    }
    if (out->empty()) {
        *why = "an operator's name is missing";
    }
    return !out->empty();
}

bool read_impl(std::istringstream &words_left, Statement *out, std::string *why)
{
    std::string key;
    return read_op(words_left, false, &out->op, why) && words_left >> key >> out->kernel &&
           read_key(key, &out->key, why);
}

bool read_define(std::istringstream &words_left, Statement *out)
{
    std::getline(words_left >> std::ws, out->op, '(');
    std::getline(words_left, out->schema);
    out->schema.insert(0, "(");
    return !out->op.empty();
}

bool read_rest(std::istringstream &words_left, Statement *out, std::string *why)
{
    std::string word;
    switch (out->verb) {
    case Verb::define:
        return read_define(words_left, out);
    case Verb::impl:
    case Verb::remove_impl:
        return read_impl(words_left, out, why);
    case Verb::fallback:
        return words_left >> word >> out->kernel && read_key(word, &out->key, why);
    case Verb::remove_fallback:
        return words_left >> word && read_key(word, &out->key, why);
    case Verb::remove_define:
        return read_op(words_left, false, &out->op, why);
    case Verb::include:
    case Verb::exclude:
        return words_left >> word && read_keys(word, &out->keys, why);
    case Verb::call:
        if (!read_op(words_left, true, &out->op, why)) {
            return false;
        }
        words_left >> word;
        return read_keys(word, &out->keys, why);
    case Verb::table:
        return read_op(words_left, true, &out->op, why);
    case Verb::bare:
    case Verb::library:
    case Verb::reset:
        return true;
    }
    return false;
}

} // namespace

std::string names_of(const std::vector<kw_key> &keys)
{
    std::string names;
    for (kw_key key : keys) {
        names += (names.empty() ? "" : ",") + std::string(kw_key_name(key));
    }
    return names;
}

kw_keyset set_of(const std::vector<kw_key> &keys)
{
    kw_keyset set = kw_keyset_empty();
    for (kw_key key : keys) {
        set = kw_keyset_add(set, key);
    }
    return set;
}

Verb taken_back(Verb verb)
{
    return verb == Verb::remove_define     ? Verb::define
           : verb == Verb::remove_impl     ? Verb::impl
           : verb == Verb::remove_fallback ? Verb::fallback
                                           : verb;
}

bool is_registering(Verb verb)
{
    const Verb taken = taken_back(verb);
    return taken == Verb::define || taken == Verb::impl || taken == Verb::fallback;
}

std::string text_of(const Statement &statement)
{
    const std::string word = words.at(statement.verb);
    const std::string full = std::string(name_space) + "::" + statement.op;
    switch (statement.verb) {
    case Verb::library:
        return word + " A " + name_space + " FREE";
    case Verb::define:
        return word + " " + statement.op + statement.schema;
    case Verb::impl:
    case Verb::remove_impl:
        return word + " " + impl_text(statement);
    case Verb::fallback:
        return word + " " + kw_key_name(statement.key) + " " + statement.kernel;
    case Verb::remove_fallback:
        return word + " " + kw_key_name(statement.key);
    case Verb::remove_define:
        return word + " " + statement.op;
    case Verb::include:
    case Verb::exclude:
        return word + " " + names_of(statement.keys);
    case Verb::call:
        return word + " " + full + (statement.keys.empty() ? "" : " " + names_of(statement.keys));
    case Verb::table:
        return word + " " + full + " all";
    case Verb::bare:
    case Verb::reset:
        break;
    }
    return word;
}

bool read_statement(const std::string &line, Statement *out, std::string *why)
{
    std::istringstream words_left(line);
    std::string word;
    std::string second;
    words_left >> word;
    if (word == "remove") {
        words_left >> second;
        word += " " + second;
    }
    *why = "the statement is unknown or incomplete";
    for (const auto &entry : words) {
        if (word == entry.second) {
            *out = Statement{};
            out->verb = entry.first;
            return read_rest(words_left, out, why);
        }
    }
    return false;
}

} // namespace differential
