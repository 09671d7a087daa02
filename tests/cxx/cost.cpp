// Calls in a loop, as C writes them and as C++ does: what a call costs is the difference of two
// runs.
//
// cost <c|op|handle|try|redispatch_c|redispatch|kernel> <count>
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <keyway/keyway.hpp>

namespace {

struct tensor {
    kw_keyset keys;
};

} // namespace

template <> struct kw::tensor_traits<tensor *> : kw::pointer_tensor<tensor> {
    static kw_keyset keys(const tensor *x) noexcept
    {
        return x->keys;
    }
};

namespace {

kw_status add(const kw_kernel *, kw_keyset, void *a, void *, void **out_0)
{
    *out_0 = a;
    return KW_OK;
}

tensor *add_cxx(tensor *a, tensor *)
{
    return a;
}

using add_function = kw_status (*)(const kw_kernel *, kw_keyset, void *, void *, void **);

kw_keyset keys_of(const tensor *x)
{
    return x != nullptr ? x->keys : kw_keyset_empty();
}

// The wrappers of Note [Typed wrappers].

inline kw_status add_call(const kw_operator *op, tensor *a, tensor *b, void **out_0)
{
    const kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == nullptr)) {
        return kw_call_refused(op);
    }
    const uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, kw_keyset_union(keys_of(a), keys_of(b)), &keys);
    const kw_status status =
        reinterpret_cast<add_function>(entry->function)(entry->kernel, keys, a, b, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

inline kw_status add_redispatch(const kw_operator *op, kw_keyset keys, tensor *a, tensor *b,
                                void **out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == nullptr)) {
        const kw_call call = kw_call_begin(op);
        if (KW_UNLIKELY(call.table == nullptr)) {
            return kw_call_refused(op);
        }
        const uint32_t depth = kw_call_depth(call);
        const kw_entry *entry = kw_redispatch_select(call.table, keys);
        const kw_status status =
            reinterpret_cast<add_function>(entry->function)(entry->kernel, keys, a, b, out_0);
        kw_call_end(call, depth);
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    const kw_status status =
        reinterpret_cast<add_function>(entry->function)(entry->kernel, keys, a, b, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

using typed = kw::op<tensor *(tensor *, tensor *)>;

// One function for each way, so that each is compiled by itself.

__attribute__((noinline)) void run_c(typed op, tensor *a, tensor *b, long count)
{
    const kw_operator *handle = op.get();
    for (long i = 0; i < count; i++) {
        void *out = nullptr;
        if (KW_UNLIKELY(add_call(handle, a, b, &out) != KW_OK)) {
            std::abort();
        }
        a = static_cast<tensor *>(out);
    }
}

__attribute__((noinline)) void run_op(typed op, tensor *a, tensor *b, long count)
{
    for (long i = 0; i < count; i++) {
        a = op(a, b);
    }
}

__attribute__((noinline)) void run_try(typed op, tensor *a, tensor *b, long count)
{
    for (long i = 0; i < count; i++) {
        a = op.try_call(a, b).value();
    }
}

__attribute__((noinline)) void run_handle(typed op, tensor *a, tensor *b, long count)
{
    const kw::op_handle handle(op.get());
    for (long i = 0; i < count; i++) {
        a = handle.call<tensor *>(a, b);
    }
}

// A redispatch happens inside a call: the loops run in a kernel of their own.

__attribute__((noinline)) void redispatch_c(typed op, tensor *a, tensor *b, long count)
{
    const kw_operator *handle = op.get();
    const kw_keyset keys = kw::keyset{kw::key::CPU};
    for (long i = 0; i < count; i++) {
        void *out = nullptr;
        if (KW_UNLIKELY(add_redispatch(handle, keys, a, b, &out) != KW_OK)) {
            std::abort();
        }
        a = static_cast<tensor *>(out);
    }
}

__attribute__((noinline)) void redispatch_op(typed op, tensor *a, tensor *b, long count)
{
    const kw_keyset keys = kw::keyset{kw::key::CPU};
    for (long i = 0; i < count; i++) {
        a = op.redispatch(keys, a, b);
    }
}

} // namespace

int main(int count_of_words, char **words)
{
    if (count_of_words != 3) {
        return 2;
    }
    const char *way = words[1];
    const long count = std::atol(words[2]);
    kw::dispatcher d = kw::dispatcher::create();
    kw::library m(d, "my");
    m.def("add(Tensor a, Tensor b) -> Tensor");
    const bool is_cxx = std::strcmp(way, "kernel") == 0;
    m.impl("add", kw::key::CPU,
           is_cxx ? kw::kernel(kw::fn<&add_cxx>) : kw::kernel(KW_UNBOXED("tt>t", add)));
    tensor a = {kw::keyset{kw::key::CPU}};
    tensor b = a;
    const auto op = typed::find(d, "my::add");
    m.impl("add", kw::key::AutogradCPU, [&](tensor *x, tensor *y) {
        (std::strcmp(way, "redispatch") == 0 ? redispatch_op : redispatch_c)(op, x, y, count);
        return x;
    });
    if (std::strncmp(way, "redispatch", 10) == 0) {
        a.keys = kw::keyset{kw::key::CPU, kw::key::AutogradCPU};
        op(&a, &b);
    } else if (std::strcmp(way, "op") == 0 || is_cxx) {
        run_op(op, &a, &b, count);
    } else if (std::strcmp(way, "try") == 0) {
        run_try(op, &a, &b, count);
    } else if (std::strcmp(way, "handle") == 0) {
        run_handle(op, &a, &b, count);
    } else {
        run_c(op, &a, &b, count);
    }
    return 0;
}
