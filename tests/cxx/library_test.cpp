// Libraries, transactions, registrations, dispatchers and blocks: what they do and how they end.
// SPDX-License-Identifier: MIT

#include <optional>
#include <stdexcept>

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

using function = int64_t(int64_t);

int64_t call(const kw::dispatcher &d, const char *name, int64_t n)
{
    return kw::op<function>::find(d, name)(n);
}

kw_status status_of(const kw::dispatcher &d, const char *name)
{
    return kw::op<function>::try_find(d, name).status();
}

int64_t plus_one(int64_t n)
{
    return n + 1;
}

kw::library make_library(const kw::dispatcher &d, kw_library_kind kind, const char *ns,
                         kw_key key = kw::key::Undefined)
{
    kw_library_options options = kw::library_options();
    options.dispatcher = d.get();
    options.kind = kind;
    options.ns = ns;
    options.key = key;
    return kw::library(options);
}

void check_kinds()
{
    kw::dispatcher d = make_dispatcher();
    kw::library def = make_library(d, KW_LIBRARY_KIND_DEF, "my");
    CHECK_HAS(CHECK_THROWS(KW_NAMESPACE_TAKEN, make_library(d, KW_LIBRARY_KIND_DEF, "my")), "my",
              "library_test.cpp");
    kw::library fragment = make_library(d, KW_LIBRARY_KIND_FRAGMENT, "my");
    kw::library impl = make_library(d, KW_LIBRARY_KIND_IMPL, "my", kw::key::CPU);
    kw::library fallbacks = make_library(d, KW_LIBRARY_KIND_IMPL, "_", kw::key::Tracer);
    def.def("f(Tensor x) -> int");
    fragment.def("g(Tensor x) -> int", [](const Tensor &) { return int64_t{2}; });
    impl.impl("f", [](const Tensor &) { return int64_t{1}; });
    fallbacks.fallback(kw::key::Tracer, kw::fallthrough());
    const Tensor x(0, {kw::key::CPU, kw::key::Tracer});
    CHECK(kw::op_handle::find(d, "my::f").call<int64_t>(x) == 1);
    CHECK(kw::op_handle::find(d, "my::g").call<int64_t>(x) == 2);
    CHECK_THROWS(KW_DEFINE_NOT_ALLOWED, impl.def("h(Tensor x) -> int"));
    CHECK_THROWS(KW_FALLBACK_NOT_ALLOWED, def.fallback(kw::key::Tracer, kw::fallthrough()));
    CHECK_TEXT(def.name(), "my");
}

// A definition with its kernel, in each way to name it.
void check_definitions()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("inferred", &plus_one);
    m.def("my::inferred.overload", &plus_one);
    m.def("given(int n=3) -> int", kw::fn<&plus_one>);
    m.def(kw::definition("tagged").tags(KW_TAGS_POINTWISE), &plus_one);
    m.def(std::string("later(int n) -> int"));
    m.impl("later", &plus_one);
    for (const char *name :
         {"my::inferred", "my::inferred.overload", "my::given", "my::tagged", "my::later"}) {
        CHECK(call(d, name, 1) == 2);
    }
    CHECK(kw_operator_tags(kw::op_handle::find(d, "my::tagged").get()) == KW_TAGS_POINTWISE);
    CHECK_TEXT(kw::op_handle::find(d, "my::given").schema(), "my::given(int n=3) -> int");
    CHECK_THROWS(KW_SCHEMA_EXPECTED, m.def("bare"));
    CHECK_THROWS(KW_SCHEMA_EXPECTED,
                 m.def("bare", kw::boxed([](kw::kernel_context, kw_frame &) {})));
    CHECK_THROWS(KW_NAMESPACE_MISMATCH, m.def("other::f", &plus_one));
    CHECK_THROWS(KW_NAME_EXPECTED, m.impl("given(int n) -> int", &plus_one));
    const std::string text = CHECK_THROWS(KW_ALREADY_DEFINED, m.def("inferred", &plus_one));
    CHECK_HAS(text, "library_test.cpp:", "my::inferred");
}

// The kernels of texts have names and places.
void check_provenance()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("f(int n) -> int");
    m.impl("f", kw::key::CPU, kw::fn<&plus_one>);
    m.impl("f", kw::key::CUDA, kw::kernel([](int64_t n) { return n; }).named("identity"));
    std::string text;
    CHECK(kw_operator_dump(
              kw::op_handle::find(d, "my::f").get(),
              [](const char *piece, size_t length, void *into) {
                  static_cast<std::string *>(into)->append(piece, length);
              },
              &text) == KW_OK);
    CHECK_HAS(text, "plus_one", "identity", "library_test.cpp:");
}

void check_transactions()
{
    kw::dispatcher d = make_dispatcher();
    kw::library old_one(d, "my");
    kw::library new_one(d, nullptr);
    old_one.def("f", &plus_one);
    {
        kw::transaction tx(d);
        tx.def(old_one, "g", &plus_one);
        tx.impl(new_one, "my::f", [](int64_t n) { return n + 10; });
        CHECK(call(d, "my::f", 1) == 2 && status_of(d, "my::g") == KW_NOT_FOUND);
        const uint64_t version = tx.commit();
        CHECK(version == kw_version() && call(d, "my::f", 1) == 11 && call(d, "my::g", 1) == 2);
    }
    {
        kw::transaction tx(d);
        tx.def(old_one, "h", &plus_one);
        tx.abort();
        CHECK(status_of(d, "my::h") == KW_NOT_FOUND);
    }
    try {
        kw::transaction tx(d);
        tx.def(old_one, "h", &plus_one);
        throw std::runtime_error("out");
    } catch (const std::runtime_error &) {
    }
    CHECK(status_of(d, "my::h") == KW_NOT_FOUND);
    kw::transaction tx(d);
    tx.def(old_one, "h", &plus_one);
    tx.def(old_one, "f", &plus_one);
    CHECK_THROWS(KW_ALREADY_DEFINED, tx.commit());
    CHECK(status_of(d, "my::h") == KW_NOT_FOUND);
    CHECK_THROWS(KW_INVALID_ARGUMENT, tx.commit());
    CHECK_THROWS(KW_INVALID_ARGUMENT, tx.def(old_one, "h", &plus_one));
    kw::transaction last(d);
    last.close(new_one);
    last.remove(old_one, 0);
    CHECK(last.try_commit().status() == KW_NOT_FOUND);
    kw::transaction closing(d);
    closing.close(new_one);
    CHECK(closing.try_commit(true) && call(d, "my::f", 1) == 2);
}

void check_registrations()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("f", &plus_one);
    {
        const kw::registration over(m, m.impl("f", [](int64_t n) { return n; }));
        CHECK(call(d, "my::f", 1) == 1);
    }
    CHECK(call(d, "my::f", 1) == 2);
    kw::registration first(m, m.impl("f", [](int64_t) { return int64_t{100}; }));
    kw::registration second(m, m.impl("f", [](int64_t) { return int64_t{200}; }));
    first = std::move(second);
    CHECK(call(d, "my::f", 1) == 200 && second.number() == 0);
    first.remove();
    CHECK(call(d, "my::f", 1) == 2);
    kw::registration kept(m, m.impl("f", [](int64_t) { return int64_t{300}; }));
    CHECK(kept.release() != 0);
    kept = kw::registration();
    CHECK(call(d, "my::f", 1) == 300);
    CHECK_THROWS(KW_NOT_FOUND, m.remove(1));
}

// The end of a library takes everything back, drains and frees it; its end inside its own kernel
// leaves it closed.
void check_ends()
{
    kw::dispatcher d = make_dispatcher();
    kw::library base(d, "my");
    base.def("f", &plus_one);
    {
        kw::library plugin(d, "my");
        plugin.impl("f", [](int64_t n) { return n; });
        kw::library moved = std::move(plugin);
        CHECK(plugin.get() == nullptr && call(d, "my::f", 1) == 1);
    }
    CHECK(call(d, "my::f", 1) == 2);
    std::optional<kw::library> own(std::in_place, d, "my");
    kw_library *left = own->get();
    own->impl("f", [&](int64_t n) {
        CHECK(own->try_drain(0).status() == KW_INVALID_ARGUMENT);
        own.reset();
        return n;
    });
    CHECK(call(d, "my::f", 1) == 1 && call(d, "my::f", 1) == 2);
    CHECK(kw_library_drain(left, 0, nullptr) == KW_OK);
    CHECK(kw_library_destroy(left, nullptr) == KW_OK);
    kw::library open(d, "my");
    CHECK_THROWS(KW_BUSY, open.destroy());
    open.close();
    open.close();
    CHECK_THROWS(KW_LIBRARY_CLOSED, open.impl("f", &plus_one));
    open.drain();
    open.destroy();
    CHECK(open.get() == nullptr);
}

void check_dispatchers()
{
    kw::dispatcher d = make_dispatcher();
    {
        kw::library m(d, "my");
        CHECK_THROWS(KW_BUSY, d.destroy());
    }
    d.destroy();
    CHECK(d.get() == nullptr);
    CHECK(kw::dispatcher::process().get() == kw_dispatcher_default());
    CHECK_THROWS(KW_INVALID_ARGUMENT, kw::dispatcher::process().destroy());
    kw::library m("cxx_default");
    m.def("f", &plus_one);
    CHECK(kw::op<function>::find("cxx_default::f")(1) == 2);
    CHECK(kw::op_handle::find("cxx_default::f").call<int64_t>(1) == 2);
    kw_library_options options = kw::library_options();
    static const kw_tensor_type other = kw::make_tensor_type<Tensor>("another tensor");
    options.tensor_type = &other;
    kw::dispatcher typed = make_dispatcher();
    options.dispatcher = typed.get();
    CHECK_HAS(CHECK_THROWS(KW_TENSOR_TYPE_MISMATCH, (kw::library(options))), "another tensor");
}

KW_LIBRARY(cxx_block, m)
{
    kw::block(m)
        .def("f", &plus_one)
        .def("g(Tensor x) -> int")
        .def(kw::definition("h").tags(KW_TAGS_CORE), [](int64_t n) { return n; });
}

KW_LIBRARY_IMPL(cxx_block, CPU, m)
{
    kw::block(m).impl("g", [](const Tensor &x) { return int64_t(x.number()); });
}

KW_LIBRARY_IMPL(_, Tracer, m)
{
    kw::block(m).fallback(kw::fallthrough());
}

void check_blocks()
{
    kw::dispatcher d = make_dispatcher();
    kw_error err = KW_ERROR_INIT;
    CHECK(kw_startup(d.get(), &err) == KW_OK);
    CHECK_TEXT(err.text, "");
    CHECK(call(d, "cxx_block::f", 1) == 2 && call(d, "cxx_block::h", 1) == 1);
    const Tensor x(7, {kw::key::CPU, kw::key::Tracer});
    CHECK(kw::op_handle::find(d, "cxx_block::g").call<int64_t>(x) == 7);
}

} // namespace

int main()
{
    check_kinds();
    check_definitions();
    check_provenance();
    check_transactions();
    check_registrations();
    check_ends();
    check_dispatchers();
    check_blocks();
    CHECK(tensor_block::live == 0);
    return check::done();
}
