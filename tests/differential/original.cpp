// The original: registrations, tables and calls of libtorch's dispatcher.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "original.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <list>
#include <map>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include "original_kernel.h"
#include "original_keys.h"

namespace differential {

namespace {

c10::OperatorName full_name(const std::string &op)
{
    return {std::string(name_space) + "::" + op, ""};
}

// "AutogradCPU: fallthrough registered at file:line [backend fallback]"
bool read_row(const std::string &line, kw_key *out_key, Cell *out)
{
    static const std::string fall = "fallthrough ";
    const size_t colon = line.find(": ");
    const size_t bracket = line.rfind(" [");
    if (colon == std::string::npos || bracket == std::string::npos ||
        kw_key_parse(line.substr(0, colon).c_str(), out_key, nullptr) != KW_OK) {
        return false;
    }
    std::string kernel = line.substr(colon + 2, bracket - colon - 2);
    out->falls_through = kernel.compare(0, fall.size(), fall) == 0;
    kernel.erase(0, out->falls_through ? fall.size() : 0);
    out->reason = line.substr(bracket + 2, line.size() - bracket - 3);
    out->kernel = kernel.find("registered at ") == 0 ? in_tree : kernel;
    if (out->reason == ambiguous_reason) {
        out->kernel.clear();
    }
    return true;
}

Table read_table(const std::string &text)
{
    Table table;
    table.exists = true;
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        if (original_has(kw_key_of_slot(static_cast<int>(slot)))) {
            table.cells[slot].reason = missing_reason;
        }
    }
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        kw_key key = 0;
        Cell cell;
        if (read_row(line, &key, &cell)) {
            table.cells[static_cast<size_t>(kw_key_slot(key))] = cell;
        }
    }
    return table;
}

struct Registration {
    Verb verb; // define, impl or fallback
    std::string op;
    kw_key key;
    std::string kernel;
    c10::RegistrationHandleRAII handle;
};

class Original final : public Side {
  public:
    Answer change(const Statement &statement, std::string *why) override;
    bool change_local(const Statement &statement) override;
    Table table(const std::string &op) override;
    Outcome call(const Statement &statement, const Shape &shape) override;
    void finish() override;

  private:
    struct Guard {
        std::unique_ptr<c10::impl::IncludeDispatchKeyGuard> include;
        std::unique_ptr<c10::impl::ExcludeDispatchKeyGuard> exclude;
    };

    void add(const Statement &statement);
    void remove(Verb verb, const Statement &statement);
    bool refresh(const std::string &op);
    bool reset();
    const Table &computed(const std::string &op);

    std::list<Registration> registrations_; // newest first
    std::map<std::string, Table> tables_;   // computed since the last change
    std::map<std::string, bool> is_fresh_;  // refreshed since the last change
    std::vector<Guard> guards_;
};

c10::Dispatcher &dispatcher()
{
    return c10::Dispatcher::singleton();
}

void Original::finish()
{
    (void)reset();
    registrations_.clear();
}

void Original::add(const Statement &statement)
{
    const std::string &kernel = statement.kernel;
    if (statement.verb == Verb::define) {
        const std::string schema = std::string(name_space) + "::" + statement.op + statement.schema;
        registrations_.push_front({Verb::define, statement.op, 0, "",
                                   dispatcher().registerDef(torch::jit::parseSchema(schema), "")});
    } else if (statement.verb == Verb::fallback) {
        const c10::DispatchKey key = key_names().original[statement.key];
        registrations_.push_front(
            {Verb::fallback, "", statement.key, kernel,
             dispatcher().registerFallback(key, make_kernel(kernel), kernel)});
    } else {
        c10::optional<c10::DispatchKey> key;
        if (statement.key != KW_KEY_Undefined) {
            key = key_names().original[statement.key];
        }
        registrations_.push_front(
            {Verb::impl, statement.op, statement.key, kernel,
             dispatcher().registerImpl(full_name(statement.op), key, make_kernel(kernel),
                                       c10::nullopt, nullptr, kernel)});
    }
}

void Original::remove(Verb verb, const Statement &statement)
{
    for (auto each = registrations_.begin(); each != registrations_.end(); ++each) {
        if (each->verb == verb && each->op == statement.op && each->key == statement.key &&
            (verb != Verb::impl || each->kernel == statement.kernel)) {
            registrations_.erase(each);
            return;
        }
    }
}

Answer Original::change(const Statement &statement, std::string *why)
{
    tables_.clear();
    is_fresh_.clear();
    const Verb taken = taken_back(statement.verb);
    if (taken != statement.verb) {
        remove(taken, statement);
        return Answer::done;
    }
    try {
        add(statement);
    } catch (const c10::Error &error) {
        *why = error.what_without_backtrace();
        return Answer::refused;
    }
    return Answer::done;
}

bool Original::reset()
{
    while (!guards_.empty()) {
        guards_.pop_back();
    }
    const auto now = c10::impl::tls_local_dispatch_key_set();
    const bool is_back =
        now.included_ == c10::default_included_set && now.excluded_ == c10::default_excluded_set;
    c10::impl::_force_tls_local_dispatch_key_set(
        c10::impl::LocalDispatchKeySet(c10::impl::PODLocalDispatchKeySet{0, 0}));
    return is_back;
}

bool Original::change_local(const Statement &statement)
{
    if (statement.verb == Verb::reset) {
        return reset();
    }
    const c10::DispatchKeySet set = original_set(statement.keys);
    Guard guard;
    if (statement.verb == Verb::include) {
        guard.include = std::make_unique<c10::impl::IncludeDispatchKeyGuard>(set);
    } else {
        guard.exclude = std::make_unique<c10::impl::ExcludeDispatchKeyGuard>(set);
    }
    guards_.push_back(std::move(guard));
    return true;
}

const Table &Original::computed(const std::string &op)
{
    auto known = tables_.find(op);
    if (known == tables_.end()) {
        const auto handle = dispatcher().findOp(full_name(op));
        known =
            tables_.emplace(op, handle ? read_table(handle->dumpComputedTable()) : Table{}).first;
    }
    return known->second;
}

Table Original::table(const std::string &op)
{
    return computed(op);
}

// Returns whether the stored table was another than the computed one. See Note [Stale tables].
bool Original::refresh(const std::string &op)
{
    if (is_fresh_[op]) {
        return false;
    }
    is_fresh_[op] = true;
    const auto handle = dispatcher().findOp(full_name(op));
    try {
        handle->checkInvariants();
        return false;
    } catch (const c10::Error &) {
        (void)dispatcher().registerImpl(full_name(op), c10::DispatchKey::CompositeImplicitAutograd,
                                        c10::KernelFunction::makeFallthrough(), c10::nullopt,
                                        nullptr, "refresh");
        handle->checkInvariants();
    }
    return true;
}

const Cell &cell_of(const Table &table, c10::DispatchKey key)
{
    return table.cells[static_cast<size_t>(kw_key_slot(key_names().keyway_of(key)))];
}

c10::DispatchKey runtime_key(c10::DispatchKey functionality, uint64_t backend_index)
{
    return c10::isPerBackendFunctionalityKey(functionality)
               ? c10::toRuntimePerBackendFunctionalityKey(
                     functionality, static_cast<c10::BackendComponent>(backend_index + 1))
               : functionality;
}

// The set without the functionalities that fall through for a backend.
c10::DispatchKeySet masked(const Table &table, c10::DispatchKeySet set, uint64_t backend_index)
{
    for (unsigned i = 1; i < c10::num_functionality_keys; i++) {
        const auto functionality = static_cast<c10::DispatchKey>(i);
        const c10::DispatchKey key = runtime_key(functionality, backend_index);
        if (key_names().keyway_of(key) < KW_KEY_LIMIT && cell_of(table, key).falls_through) {
            set = set.remove(functionality);
        }
    }
    return set;
}

// What a call with the arguments' keys does, by the table.
Outcome predict(const Table &table, c10::DispatchKeySet arguments)
{
    const auto local = c10::impl::tls_local_dispatch_key_set();
    const c10::DispatchKeySet whole = (arguments | local.included_) - local.excluded_;
    const uint64_t backend_index = whole.getBackendIndex();
    const c10::DispatchKeySet set = masked(table, whole, arguments.getBackendIndex());
    const c10::DispatchKey highest = set.highestFunctionalityKey();
    const Cell &cell = cell_of(table, runtime_key(highest, backend_index));
    Outcome outcome;
    outcome.kernel = cell.kernel;
    outcome.is_masked_early = set != masked(table, whole, backend_index);
    outcome.ending = cell.reason == ambiguous_reason          ? Ending::ambiguous
                     : cell.falls_through                     ? Ending::fell_through
                     : cell.reason != missing_reason          ? Ending::ran
                     : highest == c10::DispatchKey::Undefined ? Ending::no_tensors
                                                              : Ending::no_kernel;
    outcome.keys = keyway_set(set);
    outcome.text = c10::toString(set.highestPriorityTypeId());
    return outcome;
}

// The class of a failure, by fragments of the original's texts.
Outcome failure(const c10::Error &error)
{
    Outcome outcome;
    outcome.text = error.what_without_backtrace();
    const auto has = [&](const char *part) { return outcome.text.find(part) != std::string::npos; };
    outcome.ending = has("no tensor arguments")               ? Ending::no_tensors
                     : has("mapped to AutogradOther")         ? Ending::ambiguous
                     : has("Could not run")                   ? Ending::no_kernel
                     : has("fallthrough_kernel was executed") ? Ending::fell_through
                                                              : Ending::other;
    return outcome;
}

Outcome make_call(const c10::OperatorHandle &op, const Shape &shape, const Statement &statement)
{
    torch::jit::Stack stack = make_arguments(shape, statement.keys);
    last_run() = Run{"", {}, shape.return_count};
    try {
        op.callBoxed(&stack);
    } catch (const c10::Error &error) {
        return failure(error);
    }
    Outcome outcome;
    outcome.ending = stack.size() == shape.return_count ? Ending::ran : Ending::other;
    outcome.kernel = last_run().kernel;
    outcome.keys = keyway_set(last_run().keys);
    return outcome;
}

// A failure names the key that won, but not the others.
bool is_as_predicted(const Outcome &outcome, const Outcome &prediction)
{
    if (outcome.ending == Ending::ran) {
        return prediction.ending == Ending::ran && outcome.kernel == prediction.kernel &&
               kw_keyset_equal(outcome.keys, prediction.keys);
    }
    return outcome.ending == prediction.ending &&
           (outcome.ending != Ending::no_kernel ||
            outcome.text.find("from the '" + prediction.text + "' backend") != std::string::npos);
}

Outcome Original::call(const Statement &statement, const Shape &shape)
{
    const auto handle = dispatcher().findOp(full_name(statement.op));
    if (!handle) {
        Outcome outcome;
        outcome.ending = Ending::absent;
        return outcome;
    }
    // Without a definition no argument is looked at.
    const auto keys = handle->hasSchema() ? statement.keys : std::vector<kw_key>();
    const Outcome prediction = predict(computed(statement.op), original_set(keys));
    const bool was_stale = refresh(statement.op);
    Outcome outcome = prediction;
    outcome.is_predicted = true;
    if (prediction.ending != Ending::ran || prediction.kernel != in_tree) {
        outcome = make_call(*handle, shape, statement);
        if (!is_as_predicted(outcome, prediction)) {
            outcome.ending = Ending::other;
            outcome.text += " (not as libtorch's table says: " + prediction.kernel + ")";
        }
        outcome.keys = prediction.keys;
    }
    outcome.is_masked_early = prediction.is_masked_early;
    outcome.was_stale = was_stale;
    return outcome;
}

} // namespace

std::string original_version()
{
    return C10_STRINGIZE(TORCH_VERSION_MAJOR) "." C10_STRINGIZE(TORCH_VERSION_MINOR);
}

bool original_has(kw_key key)
{
    return key < KW_KEY_LIMIT && key_names().is_known[key];
}

unsigned original_extra_slots()
{
    return key_names().extra_slots;
}

std::vector<InTree> original_in_tree()
{
    const auto handle = dispatcher().registerDef(
        torch::jit::parseSchema(std::string(name_space) + "::in_tree() -> ()"), "");
    const Table table = read_table(dispatcher().findOp(full_name("in_tree"))->dumpComputedTable());
    std::vector<InTree> all;
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        if (table.cells[slot].kernel == in_tree) {
            all.push_back(
                {kw_key_of_slot(static_cast<int>(slot)), table.cells[slot].falls_through});
        }
    }
    return all;
}

std::unique_ptr<Side> make_original()
{
    quiet_original();
    return std::make_unique<Original>();
}

} // namespace differential
