// The model of the protocol under weak memory: searches scenarios, with or without a fault.
//
// Layer:   test
// Threads: one, which simulates others.
// SPDX-License-Identifier: MIT
//
//     relacy_model [--list] [--fault NAME] [--scenario NAME] [--long]

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <vector>

#include "blocks.hpp"
#include "calls.hpp"
#include "faults.hpp"
#include "interp.hpp"
#include "words.hpp"

const unsigned NO_BOUND = 1000000;
const unsigned TRAIL_LINES = 24;
const unsigned RANDOM_COUNT = 100000; // with --long, after the search of all orders

struct scenario_facts {
    const char *name;
    unsigned threads;
    unsigned bound;      // switches away from a thread that could go on
    unsigned long_bound; // the same with --long
    scenario *(*make)(void *memory, machine *on);
};

template <class S> scenario *make(void *memory, machine *on)
{
    RL_ASSERT(sizeof(S) <= 65536);
    return new (memory) S(on);
}

static const scenario_facts scenarios[] = {
    {"call", 2, 5, NO_BOUND, make<call_scenario>},
    {"slot", 2, 4, NO_BOUND, make<slot_scenario>},
    {"nested", 2, 3, 5, make<nested_scenario>},
    {"instant", 2, 5, 8, make<instant_scenario>},
    {"snapshot", 2, 4, NO_BOUND, make<snapshot_scenario>},
    {"reopen", 2, 4, 6, make<reopen_scenario>},
    {"middle", 2, 4, 6, make<middle_scenario>},
    {"writers", 3, 2, 3, make<writers_scenario>},
    {"thread-end", 2, 5, NO_BOUND, make<thread_end_scenario>},
    {"thread-end-pinned", 2, 4, NO_BOUND, make<thread_end_pinned_scenario>},
    {"signal", 2, 3, 5, make<signal_scenario>},
    {"inner-snapshot", 2, NO_BOUND, NO_BOUND, make<inner_snapshot_scenario>},
    {"handover", 2, 6, NO_BOUND, make<handover_scenario>},
    {"shared", 3, 3, 5, make<shared_scenario>},
    {"retained", 2, NO_BOUND, NO_BOUND, make<retained_scenario>},
    {"deep", 2, NO_BOUND, NO_BOUND, make<deep_scenario>},
    {"attach", 2, NO_BOUND, NO_BOUND, make<attach_scenario>},
    {"reuse", 2, NO_BOUND, NO_BOUND, make<reuse_scenario>},
    {"report", 2, NO_BOUND, NO_BOUND, make<report_scenario>},
    {"sections", 2, NO_BOUND, NO_BOUND, make<sections_scenario>},
    {"turns", 3, 4, NO_BOUND, make<turns_scenario>},
    {"once", 2, NO_BOUND, NO_BOUND, make<once_scenario>},
    {"allocator", 2, NO_BOUND, NO_BOUND, make<allocator_scenario>},
    {"sorts", 2, NO_BOUND, NO_BOUND, make<sorts_scenario>},
    {"blocks", 3, NO_BOUND, NO_BOUND, make<blocks_scenario>},
    {"lease", 3, NO_BOUND, NO_BOUND, make<lease_scenario>},
    {"references", 2, NO_BOUND, NO_BOUND, make<references_scenario>},
    {"names", 2, NO_BOUND, NO_BOUND, make<names_scenario>},
    {"shutdown-one", 3, 4, 8, make<shutdown_one_scenario>},
    {"shutdown-two", 3, 4, 8, make<shutdown_two_scenario>},
};
const unsigned SCENARIO_COUNT = sizeof scenarios / sizeof *scenarios;

static const scenario_facts *searched;
static long double scenario_memory[65536 / sizeof(long double)];

template <unsigned N> class suite : public rl::test_suite<suite<N>, N> {
  public:
    void before()
    {
        scenario_ = searched->make(scenario_memory, &machine_);
    }

    void thread(unsigned number)
    {
        scenario_->thread(number);
    }

    void after()
    {
        scenario_->~scenario();
    }

  private:
    machine_of<N> machine_;
    scenario *scenario_;
};

template <unsigned N> rl::test_result_e search(rl::test_params *params, rl::string *state)
{
    typedef suite<N> all;
    typedef every_order<N> orders;
    typedef rl::random_scheduler<N> random;
    rl::ostringstream out;
    bool is_again = *state != "";
    rl::test_result_e result = params->search_type == rl::sched_random
                                   ? rl::run_test<all, random>(*params, out, is_again)
                                   : rl::run_test<all, orders>(*params, out, is_again);
    *state = out.str();
    return result;
}

static rl::test_result_e search(rl::test_params *params, rl::string *state)
{
    return searched->threads == 2 ? search<2>(params, state) : search<3>(params, state);
}

static const char *oracle_of(rl::test_result_e result)
{
    switch (result) {
    case rl::test_result_user_assert_failed:
        return "promise";
    case rl::test_result_data_race:
        return "data race";
    case rl::test_result_unitialized_access:
        return "uninitialized";
    case rl::test_result_deadlock:
        return "deadlock";
    default:
        return rl::test_result_str(result);
    }
}

// The last lines of relacy's history, without those that only name addresses.
static void print_trail(const rl::string &text)
{
    std::vector<rl::string> lines;
    rl::string::size_type from = text.find("execution history");
    for (rl::string::size_type to; (to = text.find('\n', from)) > from + 1; from = to + 1) {
        rl::string line = text.substr(from, to - from);
        if (line.find("<0x") == rl::string::npos && line.find("[THREAD") == rl::string::npos) {
            lines.push_back(line.substr(0, line.find(", in ")));
        }
    }
    unsigned first = lines.size() > TRAIL_LINES ? (unsigned)lines.size() - TRAIL_LINES : 1;
    for (unsigned i = first; i < lines.size(); i++) {
        std::printf("    %s\n", lines[i].c_str());
    }
}

static double seconds_now()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Searches again what has led to the violation, and prints it.
static void print_violation(rl::test_params params, rl::test_result_e result, rl::string state)
{
    rl::ostringstream history;
    params.output_stream = &history;
    params.collect_history = true;
    params.initial_state = state;
    search(&params, &state);
    rl::string text = history.str();
    rl::string first = text.substr(0, text.find('\n'));
    std::printf("violation (%s) in %s after %llu interleavings: %s\n", oracle_of(result),
                searched->name, (unsigned long long)params.stop_iteration, first.c_str());
    print_trail(text);
}

// Whether a search finds nothing.
static bool run_search(rl::test_params params, const char *sort)
{
    rl::ostringstream nowhere;
    params.output_stream = &nowhere;
    params.progress_stream = &nowhere;
    double begin = seconds_now();
    rl::string state;
    rl::test_result_e result = search(&params, &state);
    if (result != rl::test_result_success) {
        print_violation(params, result, state);
        return false;
    }
    std::printf("%s: %llu %sinterleavings, %.2f s, clean\n", searched->name,
                (unsigned long long)params.stop_iteration, sort, seconds_now() - begin);
    std::fflush(stdout);
    return true;
}

static bool run_scenario(const scenario_facts *facts, bool is_long)
{
    rl::test_params params;
    searched = facts;
    params.search_type = rl::sched_bound;
    params.context_bound = is_long ? facts->long_bound : facts->bound;
    if (!run_search(params, "")) {
        return false;
    }
    params.search_type = rl::sched_random;
    params.iteration_count = RANDOM_COUNT;
    return !is_long || run_search(params, "random ");
}

static void list()
{
    for (unsigned i = 0; i < SCENARIO_COUNT; i++) {
        if (scenarios[i].bound == NO_BOUND) {
            std::printf("scenario %s threads %u\n", scenarios[i].name, scenarios[i].threads);
        } else {
            std::printf("scenario %s threads %u switches %u\n", scenarios[i].name,
                        scenarios[i].threads, scenarios[i].bound);
        }
    }
    for (unsigned i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
        const char *by = fault_table[i].scenario;
        std::printf("fault %s found by %s\n", fault_table[i].text, *by != '\0' ? by : "nobody");
    }
}

static fault fault_by_name(const char *name)
{
    unsigned i = 0;
    while (i < FAULT_COUNT && std::strcmp(fault_table[i].text, name) != 0) {
        i++;
    }
    return (fault)i;
}

// The scenarios that are asked for: all, one, or for a fault the one that finds it, then the
// others.
static int run_all(const char *only, bool is_long)
{
    bool is_known = false;
    const char *first = only != NULL ? only : fault_table[active_fault].scenario;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < SCENARIO_COUNT; i++) {
            bool is_first = std::strcmp(scenarios[i].name, first) == 0;
            if (is_first != (round == 0) || (only != NULL && !is_first)) {
                continue;
            }
            is_known = true;
            if (!run_scenario(&scenarios[i], is_long)) {
                return 1;
            }
        }
    }
    if (!is_known) {
        std::fprintf(stderr, "there is no scenario %s\n", first);
    }
    return is_known ? 0 : 2;
}

int main(int count, char **arguments)
{
    const char *only = NULL;
    bool is_long = false;
    for (int i = 1; i < count; i++) {
        const char *next = i + 1 < count ? arguments[i + 1] : "";
        if (std::strcmp(arguments[i], "--list") == 0) {
            list();
            return 0;
        } else if (std::strcmp(arguments[i], "--long") == 0) {
            is_long = true;
        } else if (std::strcmp(arguments[i], "--scenario") == 0) {
            only = next;
            i++;
        } else if (std::strcmp(arguments[i], "--fault") == 0) {
            active_fault = fault_by_name(next);
            i++;
        } else {
            active_fault = FAULT_COUNT;
        }
    }
    if (active_fault == FAULT_COUNT) {
        std::fprintf(stderr, "usage: %s [--list] [--fault NAME] [--scenario NAME] [--long]\n",
                     arguments[0]);
        return 2;
    }
    return run_all(only, is_long);
}
