// Transactions in C++: definitions, kernels, fallbacks and removals that become visible at once.
//
// Layer:     cxx (public headers)
// Threads:   a transaction is used by one thread at a time.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_TRANSACTION_HPP
#define KW_CXX_TRANSACTION_HPP

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/call.hpp>
#include <keyway/cxx/dispatcher.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/kernel.hpp>

namespace kw {

class library;

/// What a definition says: a schema, or a name where a kernel supplies the schema; tags; who calls
/// it. Made of a text where only that is said.
class definition {
  public:
    definition(const char *text) : text_(text)
    {
    }

    definition(std::string text) : text_(std::move(text))
    {
    }

    /// Gives it tags, of kw_tag_bit.
    definition &&tags(uint64_t bits) &&
    {
        tags_ = bits;
        return std::move(*this);
    }

    /// Says that C++ code calls it with this function type, which brings a boxing thunk; its boxed
    /// kernels then need no libffi. A definition with a kernel gets the kernel's.
    template <class Function> definition &&called_as() &&
    {
        using signature = detail::signature_of<Function>;
        box_ = reinterpret_cast<kw_function>(&signature::thunk::box);
        code_ = signature::code();
        return std::move(*this);
    }

    /// Takes what it lacks from a kernel: the schema, the boxing thunk.
    void complete(const kernel &kernel)
    {
        if (text_.find('(') == std::string::npos) {
            text_ += kernel.schema(); // none of a boxed kernel: the library refuses the bare name
        }
        if (box_ == nullptr && kernel.box() != nullptr) {
            box_ = kernel.box();
            code_ = kernel.code();
        }
    }

    /// The name in front of the arguments.
    std::string name() const
    {
        return text_.substr(0, text_.find('('));
    }

    /// For C. Borrowed.
    kw_definition describe(place where) const
    {
        kw_definition made = kwi_definition_make(text_.c_str(), where.file, where.line);
        made.tags = tags_;
        // A thunk with another C signature than the schema's would be a wrong cast.
        made.box = box_ != nullptr && detail::schema_code(text_) == code_ ? box_ : nullptr;
        return made;
    }

  private:
    std::string text_;
    uint64_t tags_ = 0;
    kw_function box_ = nullptr;
    std::string code_;
};

/// The numbers of a definition and its kernel.
struct defined {
    kw_registration definition;
    kw_registration kernel;
};

/// A transaction. The end of its scope aborts what was not committed.
///
/// When a staging function fails, what was staged before is still there: abort.
class transaction {
  public:
    explicit transaction(const dispatcher &where = dispatcher::process())
        : transaction(try_begin(where).value())
    {
    }

    static result<transaction> try_begin(const dispatcher &where) noexcept
    {
        return try_begin(where.get());
    }

    static result<transaction> try_begin(kw_dispatcher *where) noexcept
    {
        kw_error err = KW_ERROR_INIT;
        kw_transaction *begun = nullptr;
        if (kw_transaction_begin(where, &begun, &err) != KW_OK) {
            return failure(err);
        }
        return transaction(begun);
    }

    /// Stage a definition; a definition and its kernel for the library's key or, without one, for
    /// every key; a kernel; a fallback; a removal; the end of a library.
    kw_registration def(library &in, definition what, place where = place::here());
    defined def(library &in, definition what, kernel with, place where = place::here());
    kw_registration impl(library &in, const char *name, kw_key key, kernel with,
                         place where = place::here());
    kw_registration impl(library &in, const char *name, kernel with, place where = place::here());
    kw_registration fallback(library &in, kw_key key, kernel with, place where = place::here());
    void remove(library &in, kw_registration registration);
    void close(library &in);

    result<kw_registration> try_def(library &in, definition what, place where = place::here());
    result<defined> try_def(library &in, definition what, kernel with, place where = place::here());
    result<kw_registration> try_impl(library &in, const char *name, kw_key key, kernel with,
                                     place where = place::here());
    result<kw_registration> try_impl(library &in, const char *name, kernel with,
                                     place where = place::here());
    result<kw_registration> try_fallback(library &in, kw_key key, kernel with,
                                         place where = place::here());
    result<void> try_remove(library &in, kw_registration registration) noexcept;
    result<void> try_close(library &in) noexcept;

    /// Makes all of it visible at one instant and returns the version. Ends the transaction, also
    /// when it fails; then nothing of it has happened.
    uint64_t commit(bool defer_reclaim = false)
    {
        return try_commit(defer_reclaim).value();
    }

    result<uint64_t> try_commit(bool defer_reclaim = false) noexcept
    {
        kw_commit_options options = {};
        options.struct_size = sizeof options;
        options.defer_reclaim = defer_reclaim;
        kw_error err = KW_ERROR_INIT;
        uint64_t version = 0;
        const kw_status status =
            kw_transaction_commit(transaction_.release(), &options, &version, &err);
        for (kernel &each : kernels_) {
            if (status == KW_OK) {
                each.release();
            }
        }
        kernels_.clear();
        return status == KW_OK ? result<uint64_t>(version) : result<uint64_t>(failure(err));
    }

    void abort() noexcept
    {
        transaction_.reset();
        kernels_.clear();
    }

    kw_transaction *get() const noexcept
    {
        return transaction_.get();
    }

  private:
    struct aborter {
        void operator()(kw_transaction *take) const noexcept
        {
            kw_transaction_abort(take);
        }
    };

    explicit transaction(kw_transaction *take) noexcept : transaction_(take)
    {
    }

    std::vector<kernel> kernels_; // staged; theirs is the state until the commit has succeeded
    std::unique_ptr<kw_transaction, aborter> transaction_; // ends before them
};

} // namespace kw

#endif // KW_CXX_TRANSACTION_HPP
