// Kernels that do not fit their operator: refused with both sides spelled out, nothing changed.
// SPDX-License-Identifier: MIT

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

struct scene {
    kw::dispatcher dispatcher = make_dispatcher();
    kw::library m{dispatcher, "my"};

    // What the operator looks like from outside, with every registration.
    std::string state(const char *name)
    {
        std::string text;
        const auto op = kw::op_handle::try_find(dispatcher, name);
        if (op) {
            const kw_status status = kw_operator_dump(
                kw::op_handle::find(dispatcher, name).get(),
                [](const char *piece, size_t length, void *into) {
                    static_cast<std::string *>(into)->append(piece, length);
                },
                &text);
            CHECK(status == KW_OK);
        }
        return text + " as of " + std::to_string(kw_version());
    }

    // A kernel that is refused, by its own registration and by the definition after it.
    template <class Wrong>
    void refuse(const char *schema, kw_status status, Wrong wrong,
                std::initializer_list<const char *> parts, int line)
    {
        const kw::registration defined(m, m.def(std::string("my::f") + schema));
        const std::string before = state("my::f");
        const std::string text = check::throws(
            status, [&] { m.impl("f", kw::key::CPU, wrong); }, __FILE__, line);
        check::has(text, parts, __FILE__, line);
        check::has(text, {"my::f", "mismatch_test.cpp"}, __FILE__, line);
        check::equal_texts(state("my::f"), before, __FILE__, line);

        const kw::registration loose(m, m.impl("g", kw::key::CPU, wrong));
        const std::string loose_state = state("my::g");
        const std::string late = check::throws(
            status, [&] { m.def(std::string("my::g") + schema); }, __FILE__, line);
        check::has(late, parts, __FILE__, line);
        check::equal_texts(state("my::g"), loose_state, __FILE__, line);
    }
};

#define REFUSE(schema, status, kernel, ...)                                                        \
    s.refuse(schema, status, kernel, {__VA_ARGS__}, __LINE__)

void check_counts()
{
    scene s;
    REFUSE(
        "(Tensor x, int n) -> Tensor", KW_ARGUMENT_COUNT_MISMATCH,
        [](const Tensor &x) { return x; }, "(Tensor x, int n) -> Tensor", "(Tensor _0) -> ",
        "2 arguments expected, 1 found");
    const auto two = [](const Tensor &x, int64_t) { return x; };
    REFUSE("(Tensor x) -> Tensor", KW_ARGUMENT_COUNT_MISMATCH, two, "(Tensor x) -> Tensor",
           "(Tensor _0, int _1) -> ");
    REFUSE(
        "(Tensor x) -> (Tensor, int)", KW_RETURN_COUNT_MISMATCH, [](const Tensor &x) { return x; },
        "(Tensor x) -> (Tensor, int)", "(Tensor _0) -> ");
    REFUSE(
        "(Tensor x) -> ()", KW_RETURN_COUNT_MISMATCH, [](const Tensor &x) { return x; },
        "(Tensor x) -> ()", "(Tensor _0) -> ");
}

void check_types()
{
    scene s;
    REFUSE("(Tensor x, int n) -> Tensor", KW_ARGUMENT_TYPE_MISMATCH,
           ([](const Tensor &x, double) { return x; }), "(Tensor x, int n) -> Tensor",
           "(Tensor _0, float _1)", "argument 2");
    REFUSE(
        "(Tensor? x) -> Tensor", KW_ARGUMENT_TYPE_MISMATCH, [](Tensor x) { return x; },
        "(Tensor? x) -> Tensor", "(Tensor _0) -> ", "argument 1");
    REFUSE(
        "(ScalarType t) -> ()", KW_ARGUMENT_TYPE_MISMATCH, [](int64_t) {}, "(ScalarType t) -> ()",
        "(int _0) -> ()");
    using dict = std::map<std::string, double>;
    REFUSE(
        "(Dict(str, int) d) -> ()", KW_ARGUMENT_TYPE_MISMATCH, [](const dict &) {},
        "Dict(str, int)", "Dict(str, float)");
    REFUSE(
        "(Tensor x) -> int", KW_RETURN_TYPE_MISMATCH, [](const Tensor &x) { return x; },
        "(Tensor x) -> int", "(Tensor _0) -> ", "return 1");
    const auto pair = [](const Tensor &x) { return std::tuple<Tensor, int64_t>(x, 0); };
    REFUSE("(Tensor x) -> (Tensor, float)", KW_RETURN_TYPE_MISMATCH, pair, "return 2");
}

// A plain kernel serves a symbolic operator; a symbolic kernel serves no plain one: their schemas
// are alike, so the C signatures are named.
void check_symbolic()
{
    scene s;
    s.m.def("sym(SymInt n) -> ()");
    s.m.impl("sym", kw::key::CPU, [](int64_t) {});
    REFUSE(
        "(int n) -> ()", KW_SIGNATURE_MISMATCH, [](kw::symint) {}, "`i>`", "int64_t", "`y>`",
        "kw_symint");
    REFUSE(
        "(int n) -> SymInt", KW_SIGNATURE_MISMATCH, [](int64_t n) { return n; }, "`i>y`",
        "kw_symint *", "`i>i`", "int64_t *");
}

// Names, defaults, annotations and sizes do not count.
void check_what_does_not_count()
{
    scene s;
    s.m.def("f(Tensor(a!) self, *, int[2] size=[1, 1], bool flag=True) -> Tensor(a!)",
            [](const Tensor &x, kw::view<int64_t>, bool) { return x; });
    const Tensor x(1);
    const auto f =
        kw::op<Tensor(const Tensor &, std::vector<int64_t>, bool)>::find(s.dispatcher, "my::f");
    CHECK(f(x, {1, 2}, true).get() == x.get());
}

// A definition and a kernel of one call that do not fit each other: neither is registered.
void check_definition_with_kernel()
{
    scene s;
    const uint64_t version = kw_version();
    CHECK_HAS(CHECK_THROWS(KW_ARGUMENT_TYPE_MISMATCH,
                           s.m.def("f(Tensor x) -> Tensor", [](int64_t) { return Tensor(); })),
              "(Tensor x) -> Tensor", "(int _0) -> ");
    CHECK(kw::op_handle::try_find(s.dispatcher, "my::f").status() == KW_NOT_FOUND);
    CHECK(kw_version() == version);
}

// Typed handles: the definition's C signature, or none.
void check_handles()
{
    scene s;
    s.m.def("f(Tensor x, SymInt n) -> Tensor");
    const std::string text = CHECK_THROWS(
        KW_SIGNATURE_MISMATCH, (kw::op<Tensor(const Tensor &)>::find(s.dispatcher, "my::f")));
    CHECK_HAS(text, "my::f");
    kw::op_handle f = kw::op_handle::find(s.dispatcher, "my::f");
    CHECK_HAS(CHECK_THROWS(KW_SIGNATURE_MISMATCH, f.call<Tensor>(Tensor(1))), "my::f", "ty>t",
              "t>t");
    CHECK_THROWS(KW_SIGNATURE_MISMATCH, f.call<Tensor>(Tensor(1), 2.5));
    CHECK_THROWS(KW_SIGNATURE_MISMATCH, f.redispatch<int64_t>(kw::keyset(), Tensor(1)));
    CHECK_THROWS(KW_SIGNATURE_MISMATCH, (kw::op<int64_t()>::of(f.get())));
    CHECK_THROWS(KW_NO_KERNEL, f.call<Tensor>(Tensor(1), kw::symint(2)));
    s.m.impl("loose", [](int64_t n) { return n; });
    CHECK_THROWS(KW_OPERATOR_UNDEFINED,
                 (kw::op<int64_t(int64_t)>::find(s.dispatcher, "my::loose")));
}

} // namespace

int main()
{
    check_counts();
    check_types();
    check_symbolic();
    check_what_does_not_count();
    check_definition_with_kernel();
    check_handles();
    CHECK(tensor_block::live == 0);
    return check::done();
}
