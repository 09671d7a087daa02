// Comparison: one scenario on both sides.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "compare.h"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "original.h"
#include "subject.h"

namespace differential {

namespace {

const char *word_of(Ending ending)
{
    switch (ending) {
    case Ending::ran:
        return "ran";
    case Ending::no_kernel:
        return "no kernel for the key";
    case Ending::no_tensors:
        return "no tensor arguments";
    case Ending::ambiguous:
        return "ambiguous";
    case Ending::fell_through:
        return "a fallthrough was reached";
    case Ending::absent:
        return "no operator";
    case Ending::other:
        break;
    }
    return "failed otherwise";
}

std::string formatted(kw_keyset keys)
{
    char buffer[4096];
    (void)kw_keyset_format(keys, buffer, sizeof buffer);
    return buffer;
}

// The key set that a failure of Keyway's names; "" if it names none in full.
std::string named_set(const std::string &text)
{
    const size_t start = text.find("DispatchKeySet(");
    const size_t end = text.find(')', start);
    return start == std::string::npos || end == std::string::npos
               ? ""
               : text.substr(start, end + 1 - start);
}

std::string set_text(kw_keyset keys)
{
    std::string text = formatted(keys);
    for (unsigned i = 1; i <= KW_BACKEND_COUNT; i++) {
        const auto backend = static_cast<kw_backend>(i);
        if (kw_keyset_has_backend(keys, backend)) {
            text += std::string(" ") + kw_backend_name(backend);
        }
    }
    return text;
}

std::string outcome_text(const Outcome &outcome)
{
    if (outcome.ending == Ending::ran) {
        return outcome.kernel + " with " + set_text(outcome.keys);
    }
    // libtorch goes on with its whole table, Keyway with all kernels.
    const std::string start = outcome.text.substr(0, outcome.text.find_first_of(".;\n"));
    return word_of(outcome.ending) + (start.empty() ? "" : ": " + start);
}

std::string cell_text(const Cell &cell)
{
    return (cell.falls_through && cell.kernel != fallthrough ? "fallthrough " : "") + cell.kernel +
           (cell.kernel.empty() ? "[" : " [") + cell.reason + "]";
}

std::string both(const std::string &original, const std::string &subject)
{
    return "libtorch: " + original + "\nKeyway:   " + subject;
}

bool is_sparse_csr(kw_key key)
{
    return kw_key_functionality(key) == KW_KEY_SparseCsr;
}

bool is_equal(const Cell &a, const Cell &b)
{
    return a.kernel == b.kernel && a.reason == b.reason && a.falls_through == b.falls_through;
}

// Playing one scenario.
class Play {
  public:
    Play(const std::vector<InTree> &fallbacks, Fault fault, Tally *tally)
        : original_(make_original()), subject_(make_subject(fallbacks)), fault_(fault),
          tally_(tally)
    {
        for (const InTree &fallback : fallbacks) {
            fallback_keys_.insert(fallback.key);
        }
    }

    std::optional<Mismatch> step(const Statement &statement);
    std::optional<Mismatch> finish();

  private:
    using Finding = std::optional<Mismatch>;

    void count(Difference difference, uint64_t by = 1)
    {
        tally_->differences[static_cast<size_t>(difference)] += by;
    }
    bool is_withheld(const Statement &statement) const;
    void remember(const Statement &statement, bool is_done);
    Finding change(const Statement &statement);
    Finding change_local(const Statement &statement);
    Finding compare_tables();
    Finding compare_table(const std::string &op);
    Finding call(const Statement &statement);
    Finding compare_call(const Outcome &original, const Outcome &subject);
    bool is_known_difference(const std::vector<kw_key> &keys);

    std::unique_ptr<Side> original_;
    std::unique_ptr<Side> subject_;
    Fault fault_;
    Tally *tally_;
    std::map<std::string, const Shape *> shapes_; // of the operators that are defined
    std::set<std::string> ops_;                   // named so far
    std::set<kw_key> fallback_keys_;              // with a fallback
    std::vector<kw_key> included_;                // since the last reset
    std::vector<kw_key> excluded_;
};

bool Play::is_withheld(const Statement &statement) const
{
    return fault_.is_seeded && statement.verb == fault_.verb && statement.number % 2 == 1;
}

// Remembers what is registered now, for the statements to come.
void Play::remember(const Statement &statement, bool is_done)
{
    if (!statement.op.empty()) {
        ops_.insert(statement.op);
    }
    if (statement.verb == Verb::define && is_done) {
        shapes_[statement.op] = shape_of(statement.schema);
    } else if (statement.verb == Verb::remove_define) {
        shapes_.erase(statement.op);
    } else if (statement.verb == Verb::fallback && is_done) {
        fallback_keys_.insert(statement.key);
    } else if (statement.verb == Verb::remove_fallback) {
        fallback_keys_.erase(statement.key);
    }
}

std::optional<Mismatch> Play::change(const Statement &statement)
{
    const bool is_fallback = statement.verb == Verb::fallback;
    if (is_fallback && statement.key == KW_KEY_AutogradPrivateUse1 &&
        fallback_keys_.count(statement.key) != 0) {
        count(Difference::private_use);
        return std::nullopt;
    }
    std::string why = "accepted";
    std::string why_too = "accepted";
    const Answer answer = original_->change(statement, &why);
    const bool is_kept = is_withheld(statement);
    const Answer answer_too = is_kept ? answer : subject_->change(statement, &why_too);
    if (answer != answer_too) {
        return Mismatch{"refusal", statement.op, both(why, why_too)};
    }
    tally_->refusals += answer == Answer::done ? 0 : 1;
    remember(statement, answer == Answer::done);
    return is_fallback || statement.verb == Verb::remove_fallback ? compare_tables()
                                                                  : compare_table(statement.op);
}

std::optional<Mismatch> Play::change_local(const Statement &statement)
{
    const bool is_back = original_->change_local(statement);
    const bool is_kept = is_withheld(statement);
    const bool is_back_too = is_kept || subject_->change_local(statement);
    std::vector<kw_key> &keys = statement.verb == Verb::include ? included_ : excluded_;
    keys.insert(keys.end(), statement.keys.begin(), statement.keys.end());
    if (statement.verb == Verb::reset) {
        included_.clear();
        excluded_.clear();
        if (!is_back) {
            count(Difference::guard_leak);
        }
        if (!is_back_too) {
            return Mismatch{"reset", "", "Keyway's guards left the thread's sets changed"};
        }
    }
    return std::nullopt;
}

std::optional<Mismatch> Play::compare_tables()
{
    for (const std::string &op : ops_) {
        if (auto found = compare_table(op)) {
            return found;
        }
    }
    return std::nullopt;
}

std::optional<Mismatch> Play::compare_table(const std::string &op)
{
    const Table original = original_->table(op);
    const Table subject = subject_->table(op);
    const std::string full = std::string(name_space) + "::" + op;
    if (original.exists != subject.exists) {
        return Mismatch{"table", op,
                        full + "\n" +
                            both(original.exists ? "exists" : "does not exist",
                                 subject.exists ? "exists" : "does not exist")};
    }
    tally_->tables += original.exists ? 1 : 0;
    for (unsigned slot = 0; original.exists && slot < KW_SLOT_COUNT; slot++) {
        const Cell &cell = original.cells[slot];
        if (cell.reason.empty()) {
            count(Difference::absent_key);
            continue;
        }
        tally_->cells++;
        if (!is_equal(cell, subject.cells[slot])) {
            return Mismatch{"table", op,
                            full + " at " + kw_key_name(kw_key_of_slot(static_cast<int>(slot))) +
                                "\n" + both(cell_text(cell), cell_text(subject.cells[slot]))};
        }
    }
    count(Difference::absent_key, original.exists ? original_extra_slots() : 0);
    return std::nullopt;
}

// The differences that depend on the keys of the arguments and the thread's sets alone.
bool Play::is_known_difference(const std::vector<kw_key> &keys)
{
    std::vector<kw_key> all = keys;
    all.insert(all.end(), included_.begin(), included_.end());
    const kw_keyset set = set_of(all);
    const kw_keyset backends =
        kw_keyset_intersection(set, kw_keyset_from_bits(KW_KEYSET_BACKEND_MASK));
    const auto has = [&](kw_backend backend) { return kw_keyset_has_backend(set, backend); };
    if (has(KW_BACKEND_Meta) && (has(KW_BACKEND_PrivateUse1) || has(KW_BACKEND_PrivateUse2) ||
                                 has(KW_BACKEND_PrivateUse3))) {
        count(Difference::meta_order);
        return true;
    }
    bool is_mentioned = false;
    bool is_cpu = false; // some other key brings the backend CPU
    for (kw_key key : all) {
        is_mentioned = is_mentioned || is_sparse_csr(key);
        is_cpu = is_cpu || (!is_sparse_csr(key) && kw_key_backend(key) == KW_BACKEND_CPU);
    }
    const bool is_cpu_only = kw_keyset_equal(backends, kw_keyset_from_backend(KW_BACKEND_CPU));
    const bool excludes_cuda =
        std::count(excluded_.begin(), excluded_.end(), KW_KEY_SparseCsrCUDA) != 0;
    if (is_mentioned && (!is_cpu || !is_cpu_only || excludes_cuda)) {
        count(Difference::sparse_csr);
        return true;
    }
    return false;
}

std::optional<Mismatch> Play::compare_call(const Outcome &original, const Outcome &subject)
{
    const std::string text = both(outcome_text(original), outcome_text(subject));
    if (original.ending == Ending::other || original.ending != subject.ending ||
        original.kernel != subject.kernel) {
        return Mismatch{"call", "", text};
    }
    tally_->calls++;
    tally_->calls_ran += original.ending == Ending::ran ? 1U : 0U;
    if (original.ending == Ending::ran && !kw_keyset_equal(original.keys, subject.keys)) {
        return Mismatch{"keys", "", text};
    }
    const std::string named = original.ending == Ending::no_kernel ? named_set(subject.text) : "";
    if (!named.empty() && named != formatted(original.keys)) {
        return Mismatch{"keys", "", both(formatted(original.keys), named)};
    }
    const bool has_set = original.ending == Ending::ran || !named.empty();
    tally_->effective_sets += has_set ? 1U : 0U;
    return std::nullopt;
}

std::optional<Mismatch> Play::call(const Statement &statement)
{
    const auto defined = shapes_.find(statement.op);
    const Shape &shape = defined != shapes_.end() ? *defined->second : shapes().front();
    const Outcome subject = subject_->call(statement, shape);
    Outcome original = original_->call(statement, shape);
    if (original.was_stale) {
        count(Difference::stale_table);
    }
    // Without a definition no argument is looked at.
    if (is_known_difference(defined != shapes_.end() ? statement.keys : std::vector<kw_key>())) {
        return std::nullopt;
    }
    if (original.is_masked_early) {
        count(Difference::mask_order);
        return std::nullopt;
    }
    if (original.is_predicted) {
        count(Difference::in_tree_kernel);
    }
    if (original.ending != Ending::ran) {
        original.kernel.clear();
    }
    return compare_call(original, subject);
}

std::optional<Mismatch> Play::step(const Statement &statement)
{
    tally_->statements++;
    const Verb verb = statement.verb;
    if (is_registering(verb)) {
        return change(statement);
    }
    if (verb == Verb::include || verb == Verb::exclude || verb == Verb::reset) {
        return change_local(statement);
    }
    if (verb == Verb::call) {
        return call(statement);
    }
    return verb == Verb::table ? compare_table(statement.op) : std::nullopt;
}

std::optional<Mismatch> Play::finish()
{
    original_->finish();
    subject_->finish();
    return std::nullopt;
}

} // namespace

Comparison::Comparison(std::vector<InTree> fallbacks, Fault fault)
    : fallbacks_(std::move(fallbacks)), fault_(fault)
{
}

std::optional<Mismatch> Comparison::play(const Scenario &scenario)
{
    Play play(fallbacks_, fault_, &tally_);
    std::optional<Mismatch> found;
    for (size_t i = 0; i < scenario.size() && !found; i++) {
        try {
            found = play.step(scenario[i]);
        } catch (const std::exception &error) {
            found = Mismatch{"failure", "", error.what()};
        }
        if (found) {
            found->place = i;
        }
    }
    try {
        (void)play.finish();
    } catch (const std::exception &error) {
        found = found ? found : Mismatch{"failure", "", error.what(), scenario.size()};
    }
    return found;
}

} // namespace differential
