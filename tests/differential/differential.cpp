// Differential test: Keyway against libtorch's own dispatcher, on random scenarios.
//
//     differential [--sequences N] [--seed S] [--seconds LIMIT] [--only NUMBER] [--fault VERB]
//     differential --replay FILE
//
// Exit status: 0 nothing differs but what differences.h names; 1 a mismatch, shrunk and printed as
// a scenario, or less than it was asked to do in the time; 2 wrong arguments.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "compare.h"
#include "generate.h"
#include "original.h"
#include "shrink.h"

using namespace differential;

namespace {

struct Options {
    uint64_t sequences = 10000;
    uint64_t seed = std::random_device()();
    uint64_t seconds = 900;
    uint64_t first = 0;
    Fault fault;
    const char *replay = nullptr;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void usage(int status)
{
    std::fputs("usage: differential [--sequences N] [--seed S] [--seconds LIMIT] [--only NUMBER]\n"
               "                    [--fault define|impl|fallback|include|exclude|remove]\n"
               "       differential --replay FILE\n",
               status == 0 ? stdout : stderr);
    std::exit(status);
}

uint64_t number_of(const char *text)
{
    char *end = nullptr;
    const uint64_t number = std::strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0') {
        usage(2);
    }
    return number;
}

Fault fault_of(const std::string &word)
{
    static const std::pair<const char *, Verb> faults[] = {
        {"define", Verb::define},   {"impl", Verb::impl},       {"fallback", Verb::fallback},
        {"include", Verb::include}, {"exclude", Verb::exclude}, {"remove", Verb::remove_impl},
    };
    for (const auto &fault : faults) {
        if (word == fault.first) {
            return Fault{true, fault.second};
        }
    }
    usage(2);
}

Options options_of(int argc, char **argv)
{
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
        if (name == "--help") {
            usage(0);
        } else if (value == nullptr) {
            usage(2);
        } else if (name == "--sequences") {
            options.sequences = number_of(value);
        } else if (name == "--seed") {
            options.seed = number_of(value);
        } else if (name == "--seconds") {
            options.seconds = number_of(value);
        } else if (name == "--only") {
            options.first = number_of(value);
            options.sequences = 1;
        } else if (name == "--fault") {
            options.fault = fault_of(value);
        } else if (name == "--replay") {
            options.replay = value;
        } else {
            usage(2);
        }
    }
    return options;
}

void print_indented(const std::string &text)
{
    std::printf("    ");
    for (char c : text) {
        std::printf(c == '\n' ? "\n    " : "%c", c);
    }
    std::printf("\n");
}

// As a file for `keyway explain`, which needs the in-tree fallbacks too.
void print_scenario(const Scenario &scenario, const std::vector<InTree> &fallbacks)
{
    std::printf("bare\nlibrary in_tree _ IMPL # the fallbacks of every libtorch process\n");
    for (const InTree &fallback : fallbacks) {
        std::printf("fallback %s %s\n", kw_key_name(fallback.key),
                    fallback.falls_through ? fallthrough : in_tree);
    }
    std::printf("library A %s FREE # the scenario\n", name_space);
    for (const Statement &statement : scenario) {
        std::printf("%s\n", text_of(statement).c_str());
    }
}

void print_mismatch(const Mismatch &mismatch)
{
    std::printf("a mismatch (%s):\n", mismatch.kind.c_str());
    print_indented(mismatch.text);
}

// A scenario must survive its own text, or the file that is printed would be another one.
bool reads_back(const Scenario &scenario)
{
    for (const Statement &statement : scenario) {
        Statement again;
        std::string why;
        if (!read_statement(text_of(statement), &again, &why) ||
            text_of(again) != text_of(statement)) {
            std::printf("does not read back: %s (%s)\n", text_of(statement).c_str(), why.c_str());
            return false;
        }
    }
    return true;
}

// Ends with a look at what differs: a table shows more than the statement that changed it.
void report_failure(Comparison &comparison, Scenario scenario, const Mismatch &mismatch,
                    const std::vector<InTree> &fallbacks)
{
    print_mismatch(mismatch);
    const size_t length = scenario.size();
    scenario.resize(std::min(scenario.size(), mismatch.place + 1));
    scenario = shrink(scenario, [&](const Scenario &part) {
        const auto found = comparison.play(part);
        return found && found->kind == mismatch.kind;
    });
    const auto still = comparison.play(scenario);
    std::printf("shrunk from %zu statements to %zu\n", length, scenario.size());
    if (still) {
        print_mismatch(*still);
    }
    if (still && still->kind == "table") {
        Statement table;
        table.verb = Verb::table;
        table.op = still->op;
        scenario.push_back(table);
    }
    (void)reads_back(scenario);
    print_scenario(scenario, fallbacks);
}

void print_report(const Tally &tally, uint64_t sequences, double seconds)
{
    std::printf("%" PRIu64 " sequences, %" PRIu64 " statements, %.1f seconds\n", sequences,
                tally.statements, seconds);
    std::printf("%" PRIu64 " tables, %" PRIu64 " cells compared\n", tally.tables, tally.cells);
    std::printf("%" PRIu64 " calls compared, %" PRIu64 " of them ran a kernel; of %" PRIu64
                " the key set was compared\n",
                tally.calls, tally.calls_ran, tally.effective_sets);
    std::printf("%" PRIu64 " registrations refused by both\n", tally.refusals);
    std::printf("known differences of libtorch %s:\n", original_version().c_str());
    for (size_t i = 0; i < difference_count; i++) {
        const DifferenceText &text = difference_texts[i];
        std::printf("%12" PRIu64 "  %s: %s; %s\n", tally.differences[i], text.name, text.what,
                    text.done);
    }
}

bool read_scenario(const char *path, Scenario *out)
{
    std::ifstream file(path);
    std::string line;
    std::string why;
    for (unsigned number = 1; std::getline(file, line); number++) {
        Statement statement;
        const std::string words = line.substr(0, line.find('#'));
        if (words.find_first_not_of(" \t") == std::string::npos) {
            continue;
        }
        if (!read_statement(words, &statement, &why)) {
            std::fprintf(stderr, "%s:%u: %s\n", path, number, why.c_str());
            return false;
        }
        statement.number = static_cast<unsigned>(out->size());
        out->push_back(statement);
    }
    return !out->empty();
}

int replay(const char *path, const std::vector<InTree> &fallbacks)
{
    Scenario scenario;
    if (!read_scenario(path, &scenario)) {
        return 2;
    }
    Comparison comparison(fallbacks, Fault{});
    const Clock::time_point start = Clock::now();
    const auto found = comparison.play(scenario);
    if (found) {
        report_failure(comparison, scenario, *found, fallbacks);
        return 1;
    }
    print_report(comparison.tally(), 1, seconds_since(start));
    return 0;
}

int run(const Options &options, const std::vector<InTree> &fallbacks)
{
    const KeyPool pool(fallbacks);
    Comparison comparison(fallbacks, options.fault);
    const Clock::time_point start = Clock::now();
    uint64_t done = 0;
    for (; done < options.sequences; done++) {
        if (seconds_since(start) > static_cast<double>(options.seconds)) {
            break;
        }
        const Scenario scenario = generate(pool, options.seed, options.first + done);
        const auto found = comparison.play(scenario);
        if (found || !reads_back(scenario)) {
            std::printf("sequence %" PRIu64 " of seed %" PRIu64 ": ", options.first + done,
                        options.seed);
            if (found) {
                report_failure(comparison, scenario, *found, fallbacks);
            }
            return 1;
        }
    }
    print_report(comparison.tally(), done, seconds_since(start));
    if (done < options.sequences) {
        std::printf("stopped after %" PRIu64 " seconds, before the %" PRIu64 " sequences\n",
                    options.seconds, options.sequences);
        return 1;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const Options options = options_of(argc, argv);
    const std::vector<InTree> fallbacks = original_in_tree();
    std::printf("Keyway against libtorch %s with its %zu fallbacks; seed %" PRIu64 "\n",
                original_version().c_str(), fallbacks.size(), options.seed);
    std::fflush(stdout);
    return options.replay != nullptr ? replay(options.replay, fallbacks) : run(options, fallbacks);
}
