// Differential test: Keyway's schema parser against libtorch's, on all schemas that it has.
//
//     schema [--verbose]
//
// Each schema is taken as libtorch prints it. Keyway must parse it and print the same text. Pairs
// of schemas, and schemas against mutations of themselves, must compare as libtorch compares them.
// --verbose lists the exceptions that are met.
//
// Exit status: 0 nothing differs but what is listed here as known; 1 something does.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/infer_schema.h>
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <keyway/schema.h>

#include "schema_mutate.h"

using namespace differential;
using c10::FunctionSchema;

namespace {

// Fewer schemas than these, and libtorch's operators were not there.
constexpr size_t dispatcher_min = 3000;
constexpr size_t interpreter_min = 500;

struct Options {
    bool is_verbose = false;
    bool loses_optional = false;     // a fault: the text loses its last "?"
    bool equates_compatible = false; // a fault: compatible schemas are equal
};

Options options;
uint64_t mismatches = 0;

struct SchemaDeleter {
    void operator()(kw_schema *schema) const
    {
        kw_schema_destroy(schema);
    }
};
using Schema = std::unique_ptr<kw_schema, SchemaDeleter>;

// What is known to differ, by operator.
struct Known {
    const char *name;
    bool parses;
    const char *reason;
};

constexpr const char *unordered =
    "libtorch prints the sets of an annotation in the order of hashes";
constexpr const char *variable = "a type variable outside of aten and prim, as in newer versions";

const Known known_texts[] = {
    {"static_runtime::select_tensor", true, unordered},
    {"aten::as_tensor", true, unordered},
    {"aten::cpu", true, unordered},
    {"aten::cuda", true, unordered},
    {"aten::to.prim_Device", true, unordered},
    {"aten::to.prim_dtype", true, unordered},
    {"aten::to.prim_other", true, unordered},
    {"prim::IfThenElse", true, unordered},
    {"profiler::_call_end_callbacks_on_jit_fut", false, variable},
    {"profiler::_call_end_callbacks_on_jit_fut._RecordFunction", false, variable},
};

const Known *find_known(const FunctionSchema &schema)
{
    const std::string name = toString(schema.operator_name());
    for (const Known &known : known_texts) {
        if (name == known.name) {
            return &known;
        }
    }
    return nullptr;
}

void report(const char *what, const std::string &first, const std::string &second,
            const std::string &detail)
{
    mismatches++;
    std::printf("mismatch (%s):\n    %s\n", what, first.c_str());
    if (!second.empty()) {
        std::printf("    %s\n", second.c_str());
    }
    std::printf("    %s\n", detail.c_str());
}

Schema parse(const std::string &text, std::string *out_error)
{
    kw_schema *schema = nullptr;
    kw_error err = KW_ERROR_INIT;
    if (kw_schema_parse(text.c_str(), &schema, &err) != KW_OK) {
        *out_error = err.text;
    }
    return Schema(schema);
}

std::string print(const kw_schema *schema)
{
    std::string text(kw_schema_format(schema, nullptr, 0) + 1, '\0');
    (void)kw_schema_format(schema, &text[0], text.size());
    text.pop_back();
    const size_t optional = text.rfind('?');
    if (options.loses_optional && optional != std::string::npos) {
        text.erase(optional, 1);
    }
    return text;
}

struct Entry {
    FunctionSchema original;
    Schema ours;
};

struct Counts {
    uint64_t parsed = 0;
    uint64_t known = 0;
};

// Another text for the same schema must at least mean the same to libtorch.
void check_known(const FunctionSchema &original, const Known &known, const kw_schema *ours)
{
    const std::string text = toString(original);
    if ((ours != nullptr) != known.parses) {
        report("known to differ, but otherwise", text, "", known.reason);
    } else if (ours != nullptr && print(ours) == text) {
        report("known to differ, but does not", text, "", known.reason);
    } else if (ours != nullptr && !(torch::jit::parseSchema(print(ours)) == original)) {
        report("another schema", text, print(ours), known.reason);
    } else if (options.is_verbose) {
        std::printf("known: %s: %s\n", known.reason, text.c_str());
    }
}

// Parses and prints; adds what parses to `entries`.
void check_text(const FunctionSchema &original, Counts &counts, std::vector<Entry> &entries)
{
    const std::string text = toString(original);
    const Known *known = find_known(original);
    std::string error;
    Schema ours = parse(text, &error);
    if (known != nullptr) {
        counts.known++;
        check_known(original, *known, ours.get());
    } else if (ours == nullptr) {
        report("does not parse", text, "", error);
    } else if (print(ours.get()) != text) {
        report("prints another text", text, print(ours.get()), "");
    }
    if (ours != nullptr) {
        counts.parsed++;
        entries.push_back(Entry{original, std::move(ours)});
    }
}

// As the dispatcher compares a kernel's schema with the operator's: symbolic integers as integers.
bool original_compatible(const FunctionSchema &a, const FunctionSchema &b)
{
    return !c10::findSchemaDifferences(a.cloneWithRealTypes(false), b.cloneWithRealTypes(false));
}

// With the types that are written, where libtorch takes ScalarType for int.
bool original_equal(const FunctionSchema &a, const FunctionSchema &b)
{
    return a.cloneWithRealTypes(true) == b.cloneWithRealTypes(true);
}

void check_pair(const Entry &a, const FunctionSchema &b_original, const kw_schema *b)
{
    char reason[512] = "";
    kw_schema_relation relation = kw_schema_compare(a.ours.get(), b, reason, sizeof reason);
    if (options.equates_compatible && relation == KW_SCHEMA_COMPATIBLE) {
        relation = KW_SCHEMA_EQUAL;
    }
    const bool is_equal = original_equal(a.original, b_original);
    const bool is_compatible = original_compatible(a.original, b_original);
    const kw_schema_relation expected = is_equal        ? KW_SCHEMA_EQUAL
                                        : is_compatible ? KW_SCHEMA_COMPATIBLE
                                                        : KW_SCHEMA_DIFFERENT;
    if (relation != expected) {
        report("compares otherwise", toString(a.original), toString(b_original),
               "libtorch " + std::to_string(expected) + ", Keyway " + std::to_string(relation) +
                   ": " + reason);
    } else if (relation != KW_SCHEMA_EQUAL && reason[0] == '\0') {
        report("no reason is given", toString(a.original), toString(b_original), "");
    }
}

uint64_t check_pairs(const std::vector<Entry> &entries)
{
    uint64_t count = 0;
    // The next ones in alphabetical order, mostly overloads, and some far away.
    for (const size_t step : {size_t(0), size_t(1), size_t(2), size_t(17), size_t(1009)}) {
        for (size_t i = 0; i < entries.size(); i++) {
            const Entry &other = entries[(i + step) % entries.size()];
            check_pair(entries[i], other.original, other.ours.get());
            count++;
        }
    }
    return count;
}

uint64_t check_mutations(const std::vector<Entry> &entries, Mutation mutation)
{
    uint64_t random = 1;
    uint64_t count = 0;
    for (const Entry &entry : entries) {
        for (const FunctionSchema &mutated : mutate(entry.original, mutation, random)) {
            std::string error;
            const Schema ours = parse(toString(mutated), &error);
            if (ours == nullptr) {
                report("a mutation does not parse", toString(mutated), "", error);
                continue;
            }
            check_pair(entry, mutated, ours.get());
            count++;
        }
    }
    return count;
}

std::vector<FunctionSchema> dispatcher_schemas()
{
    std::vector<FunctionSchema> schemas;
    c10::Dispatcher &dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName &name : dispatcher.getAllOpNames()) {
        const auto handle = dispatcher.findSchema(name);
        if (handle.has_value()) {
            schemas.push_back(handle->schema());
        }
    }
    return schemas;
}

// Those of the interpreter that are not the dispatcher's.
std::vector<FunctionSchema> interpreter_schemas()
{
    std::vector<FunctionSchema> schemas;
    for (const auto &op : torch::jit::getAllOperators()) {
        if (!c10::Dispatcher::singleton().findSchema(op->schema().operator_name()).has_value()) {
            schemas.push_back(op->schema());
        }
    }
    return schemas;
}

void check_schemas(const char *whose, std::vector<FunctionSchema> schemas, size_t least,
                   std::vector<Entry> &entries)
{
    std::sort(schemas.begin(), schemas.end(), [](const FunctionSchema &a, const FunctionSchema &b) {
        return toString(a) < toString(b);
    });
    Counts counts;
    for (const FunctionSchema &schema : schemas) {
        check_text(schema, counts, entries);
    }
    std::printf("%zu schemas of the %s: %" PRIu64 " parse, %" PRIu64 " differ, as known\n",
                schemas.size(), whose, counts.parsed, counts.known);
    if (schemas.size() < least) {
        report("too few schemas", whose, "", std::to_string(least) + " are expected");
    }
}

void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        const std::string fault = word == "--fault" && i + 1 < argc ? argv[++i] : "";
        options.is_verbose = options.is_verbose || word == "--verbose";
        options.loses_optional = fault == "text";
        options.equates_compatible = fault == "relation";
        if (word != "--verbose" && !options.loses_optional && !options.equates_compatible) {
            std::fprintf(stderr, "usage: %s [--verbose] [--fault text|relation]\n", argv[0]);
            std::exit(2);
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    read_options(argc, argv);
    std::vector<Entry> entries;
    check_schemas("dispatcher", dispatcher_schemas(), dispatcher_min, entries);
    check_schemas("interpreter", interpreter_schemas(), interpreter_min, entries);
    std::printf("%" PRIu64 " pairs compared\n", check_pairs(entries));
    for (size_t i = 0; i < static_cast<size_t>(Mutation::count); i++) {
        const Mutation mutation = static_cast<Mutation>(i);
        const uint64_t count = check_mutations(entries, mutation);
        std::printf("%" PRIu64 " mutations compared: %s\n", count, mutation_name(mutation));
    }
    std::printf("%" PRIu64 " mismatches\n", mismatches);
    return mismatches > 0 ? 1 : 0;
}
