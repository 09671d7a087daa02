// The subject: registrations, tables and calls of Keyway, by its public headers.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "subject.h"

#include <list>
#include <stdexcept>

#include <keyway/call.h>
#include <keyway/inspect.h>
#include <keyway/library.h>
#include <keyway/local.h>

namespace differential {

namespace {

struct Tensor {
    kw_keyset keys;
};

struct Run {
    std::string kernel;
    kw_keyset keys;
};

Run last_run;

kw_keyset keys_of(const void *tensor)
{
    return static_cast<const Tensor *>(tensor)->keys;
}

const kw_tensor_type tensor_type = [] {
    kw_tensor_type type = {};
    type.struct_size = sizeof type;
    type.name = "tensor with any keys";
    type.version = 1;
    type.keys = keys_of;
    return type;
}();

// The kernel of everything that is no fallthrough. Its user data is its name.
kw_status record(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    static Tensor result = {kw_keyset_empty()};
    (void)op;
    last_run = Run{*static_cast<const std::string *>(self->user_data), keys};
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = kw_value_tensor(&result);
    }
    return KW_OK;
}

void destroy_name(void *name)
{
    delete static_cast<std::string *>(name);
}

void need(kw_status status, const kw_error &err, const char *what)
{
    if (status != KW_OK) {
        throw std::runtime_error(std::string("Keyway cannot ") + what + ": " + err.text);
    }
}

// A descriptor, and its user data until a registration takes it.
struct Kernel {
    std::unique_ptr<std::string> name;
    kw_kernel_descriptor descriptor;

    Kernel(const std::string &its_name, bool falls_through)
        : name(falls_through ? nullptr : std::make_unique<std::string>(its_name)),
          descriptor(falls_through ? KW_FALLTHROUGH() : KW_BOXED(record))
    {
        descriptor.name = its_name.c_str();
        descriptor.user_data = name.get();
        descriptor.destroy = falls_through ? nullptr : destroy_name;
    }
};

struct Registration {
    Verb verb; // define, impl or fallback
    std::string op;
    kw_key key;
    std::string kernel;
    kw_registration number;
};

class Subject final : public Side {
  public:
    explicit Subject(const std::vector<InTree> &fallbacks);

    Answer change(const Statement &statement, std::string *why) override;
    bool change_local(const Statement &statement) override;
    Table table(const std::string &op) override;
    Outcome call(const Statement &statement, const Shape &shape) override;
    void finish() override;

  private:
    kw_library *make_library(const char *name);
    kw_status add(const Statement &statement, kw_registration *out, kw_error *err);
    void remove(Verb verb, const Statement &statement);
    const kw_operator *find(const std::string &op);

    kw_dispatcher *dispatcher_ = nullptr;
    kw_library *in_tree_ = nullptr;
    kw_library *library_ = nullptr;
    std::list<Registration> registrations_; // newest first
    std::vector<kw_local_guard> guards_;
};

kw_library *Subject::make_library(const char *name)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = nullptr;
    kw_library_options options = {};
    options.struct_size = sizeof options;
    options.dispatcher = dispatcher_;
    options.name = name;
    options.ns = name_space;
    options.tensor_type = &tensor_type;
    need(kw_library_create(&options, &library, &err), err, "create a library");
    return library;
}

Subject::Subject(const std::vector<InTree> &fallbacks)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher_options options = {};
    options.struct_size = sizeof options;
    options.tensor_type = &tensor_type;
    options.bare = true;
    need(kw_dispatcher_create(&options, &dispatcher_, &err), err, "create a dispatcher");
    in_tree_ = make_library("in_tree");
    library_ = make_library("A");
    kw_transaction *tx = nullptr;
    need(kw_transaction_begin(dispatcher_, &tx, &err), err, "begin");
    std::list<Kernel> kernels;
    for (const InTree &fallback : fallbacks) {
        kernels.emplace_back(in_tree, fallback.falls_through);
        need(kw_transaction_fallback(tx, in_tree_, fallback.key, &kernels.back().descriptor,
                                     nullptr, &err),
             err, "stage a fallback");
    }
    need(kw_transaction_commit(tx, nullptr, nullptr, &err), err, "commit the fallbacks");
    for (Kernel &kernel : kernels) {
        (void)kernel.name.release();
    }
}

void end_library(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    need(kw_library_close(library, &err), err, "close a library");
    need(kw_library_drain(library, KW_FOREVER, &err), err, "drain a library");
    need(kw_library_destroy(library, &err), err, "destroy a library");
}

void Subject::finish()
{
    Statement reset;
    reset.verb = Verb::reset;
    (void)change_local(reset);
    end_library(library_);
    end_library(in_tree_);
    kw_error err = KW_ERROR_INIT;
    need(kw_dispatcher_destroy(dispatcher_, &err), err, "destroy a dispatcher");
}

kw_status Subject::add(const Statement &statement, kw_registration *out, kw_error *err)
{
    if (statement.verb == Verb::define) {
        const std::string schema = statement.op + statement.schema;
        const kw_definition definition = KW_DEFINE(schema.c_str());
        return kw_library_define(library_, &definition, out, err);
    }
    Kernel kernel(statement.kernel, statement.kernel == fallthrough);
    const kw_status status =
        statement.verb == Verb::fallback
            ? kw_library_fallback(library_, statement.key, &kernel.descriptor, out, err)
            : kw_library_impl(library_, statement.op.c_str(), statement.key, &kernel.descriptor,
                              out, err);
    if (status == KW_OK) {
        (void)kernel.name.release();
    }
    return status;
}

void Subject::remove(Verb verb, const Statement &statement)
{
    for (auto each = registrations_.begin(); each != registrations_.end(); ++each) {
        if (each->verb == verb && each->op == statement.op && each->key == statement.key &&
            (verb != Verb::impl || each->kernel == statement.kernel)) {
            kw_error err = KW_ERROR_INIT;
            need(kw_library_remove(library_, each->number, &err), err, "remove");
            registrations_.erase(each);
            return;
        }
    }
}

Answer Subject::change(const Statement &statement, std::string *why)
{
    const Verb taken = taken_back(statement.verb);
    if (taken != statement.verb) {
        remove(taken, statement);
        return Answer::done;
    }
    Registration made = {statement.verb, statement.op, statement.key, statement.kernel, 0};
    kw_error err = KW_ERROR_INIT;
    const kw_status status = add(statement, &made.number, &err);
    if (status != KW_OK) {
        *why = err.text;
        return Answer::refused;
    }
    registrations_.push_front(made);
    return Answer::done;
}

bool Subject::change_local(const Statement &statement)
{
    kw_local_guard guard;
    const kw_keyset keys = set_of(statement.keys);
    const kw_error err = KW_ERROR_INIT;
    if (statement.verb != Verb::reset) {
        const bool includes = statement.verb == Verb::include;
        need(includes ? kw_local_include(keys, &guard) : kw_local_exclude(keys, &guard), err,
             "change the thread's sets");
        guards_.push_back(guard);
        return true;
    }
    while (!guards_.empty()) {
        kw_local_restore(&guards_.back());
        guards_.pop_back();
    }
    const kw_local_state now = kw_local_capture();
    const kw_local_state start = kw_local_default();
    return kw_keyset_equal(now.included, start.included) &&
           kw_keyset_equal(now.excluded, start.excluded);
}

const kw_operator *Subject::find(const std::string &op)
{
    const kw_operator *found = nullptr;
    const std::string full = std::string(name_space) + "::" + op;
    kw_error err = KW_ERROR_INIT;
    const kw_status status = kw_operator_find(dispatcher_, full.c_str(), &found, &err);
    if (status != KW_OK && status != KW_NOT_FOUND) {
        need(status, err, "look an operator up");
    }
    return status == KW_OK ? found : nullptr;
}

void take_row(const kw_table_row *row, void *context)
{
    Cell &cell = static_cast<Table *>(context)->cells[static_cast<size_t>(kw_key_slot(row->key))];
    cell.reason = row->reason;
    cell.falls_through = row->is_fallthrough;
    if (cell.reason != missing_reason && cell.reason != ambiguous_reason) {
        cell.kernel = row->kernel;
    }
}

Table Subject::table(const std::string &op)
{
    Table table;
    const kw_operator *found = find(op);
    if (found != nullptr) {
        const kw_error err = KW_ERROR_INIT;
        need(kw_operator_visit_table(found, take_row, &table), err, "show a table");
        table.exists = true;
    }
    return table;
}

// A call's tensors and arguments. Tensors without keys are absent where they may be.
class Arguments {
  public:
    Arguments(const Shape &shape, const std::vector<kw_key> &keys)
    {
        for (const auto &part : spread(keys, tensor_count(shape))) {
            tensors_.push_back(Tensor{set_of(part)});
        }
        for (Tensor &tensor : tensors_) {
            pointers_.push_back(&tensor);
            optional_.push_back(kw_keyset_is_empty(tensor.keys) ? nullptr : &tensor);
        }
        size_t first = 0;
        for (Argument argument : shape.arguments) {
            values_.push_back(make(argument, first));
            first += tensor_count(argument);
        }
    }

    std::vector<kw_value> &values()
    {
        return values_;
    }

  private:
    kw_value make(Argument argument, size_t first)
    {
        switch (argument) {
        case Argument::tensor:
            return kw_value_tensor(pointers_[first]);
        case Argument::optional_tensor:
            return kw_value_tensor(optional_[first]);
        case Argument::tensor_list:
            return kw_value_tensors(kw_tensor_list{&pointers_[first], 2});
        case Argument::optional_tensor_list:
            return kw_value_tensors(kw_tensor_list{&optional_[first], 2});
        case Argument::integer:
            break;
        }
        return kw_value_int(1);
    }

    std::vector<Tensor> tensors_;
    std::vector<void *> pointers_;
    std::vector<void *> optional_;
    std::vector<kw_value> values_;
};

Ending ending_of(kw_status status)
{
    switch (status) {
    case KW_OK:
        return Ending::ran;
    case KW_NO_KERNEL_FOR_KEY:
        return Ending::no_kernel;
    case KW_NO_TENSOR_ARGUMENTS:
        return Ending::no_tensors;
    case KW_AMBIGUOUS:
        return Ending::ambiguous;
    case KW_FALLTHROUGH_REACHED:
        return Ending::fell_through;
    default:
        return Ending::other;
    }
}

Outcome Subject::call(const Statement &statement, const Shape &shape)
{
    Outcome outcome;
    const kw_operator *op = find(statement.op);
    if (op == nullptr) {
        outcome.ending = Ending::absent;
        return outcome;
    }
    Arguments arguments(shape, statement.keys);
    std::vector<kw_value> returns(shape.return_count + 1, kw_value_none());
    kw_frame frame = {arguments.values().data(), returns.data(),
                      static_cast<uint32_t>(arguments.values().size()), shape.return_count};
    last_run = Run{"", kw_keyset_empty()};
    const kw_status status = kw_call_boxed(op, &frame);
    outcome.ending = ending_of(status);
    outcome.kernel = last_run.kernel;
    outcome.keys = last_run.keys;
    outcome.text = status == KW_OK ? "" : kw_call_error();
    return outcome;
}

} // namespace

std::unique_ptr<Side> make_subject(const std::vector<InTree> &fallbacks)
{
    return std::make_unique<Subject>(fallbacks);
}

} // namespace differential
