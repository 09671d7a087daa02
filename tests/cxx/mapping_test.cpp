// Every type of C++ through an operator and back: typed to typed, boxed to typed, typed to boxed.
// SPDX-License-Identifier: MIT

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

struct Model {
    int64_t size;
};

} // namespace

template <> struct kw::class_traits<Model> {
    static constexpr const char *name = "__torch__.torch.classes.my.Model";
};

namespace {

// A value that is a view of nothing: what a kernel without need of libffi gets.
bool equal(const kw_value &a, const kw_value &b)
{
    return kw_value_equal(&a, &b);
}

// The scene of one type: an operator `echo` of a kernel, and `look`, which keeps its boxed
// argument.
class scene {
  public:
    scene(kw::kernel echo, const std::string &type) : library_(dispatcher_, "my")
    {
        library_.def("echo", std::move(echo));
        library_.def("look(" + type + " x) -> ()",
                     kw::boxed([this](kw::kernel_context, kw_frame &frame) {
                         arg_ = kw::value::own(frame.args[0], &tensor_type());
                     }));
    }

    const kw::dispatcher &dispatcher() const
    {
        return dispatcher_;
    }

    // What a boxed call of `echo` with that argument gives.
    const kw::value &echo_boxed()
    {
        kw::frame<1, 1> frame(&tensor_type());
        frame.arg(0) = arg_.get();
        kw::op_handle::find(dispatcher_, "my::echo").call_boxed(frame.get());
        return_ = frame.take(0);
        return return_;
    }

    // From here on a boxed kernel gives the same answer.
    void answer_boxed()
    {
        library_.impl("echo", kw::boxed([this](kw::kernel_context, kw_frame &frame) {
                          frame.returns[0] = return_.clone().release();
                      }));
    }

  private:
    kw::dispatcher dispatcher_ = make_dispatcher();
    kw::value arg_;
    kw::value return_;
    kw::library library_;
};

// Sends an argument through `echo`, which gives back what it was given as an R, on three ways:
//   a typed call of a typed kernel; a boxed call of it; a typed call of a boxed kernel.
// `same` says whether an R is what was sent.
template <class A, class R, class Same>
void echo(R (*kernel)(A), kw::detail::bare<A> sent, Same same, int line)
{
    scene s(kernel, kw::detail::codec<kw::detail::bare<A>>::name());
    const auto op = kw::op<R(A)>::find(s.dispatcher(), "my::echo");
    const auto call = [&] { return same(op(static_cast<A>(sent))); };
    check::holds(call(), "typed to typed", __FILE__, line);
    kw::op<void(A)>::find(s.dispatcher(), "my::look")(static_cast<A>(sent));
    const kw::value &answer = s.echo_boxed();
    check::holds(answer.is<R>() && same(answer.as<R>()), "boxed to typed", __FILE__, line);
    s.answer_boxed();
    check::holds(call(), "typed to boxed", __FILE__, line);
}

template <class T> void echo_value(const T &sent, int line)
{
    echo<const T &, T>([](const T &x) { return x; }, sent,
                       [&](const T &got) { return got == sent; }, line);
}

#define ECHO(type, ...) echo_value<type>(__VA_ARGS__, __LINE__)

void check_numbers()
{
    ECHO(int64_t, INT64_MIN);
    ECHO(int64_t, int64_t{7});
    ECHO(double, 2.5);
    ECHO(bool, true);
    ECHO(bool, false);
    ECHO(std::complex<double>, std::complex<double>(1, -2));
    ECHO(kw::device, kw::device(1, 3));
    ECHO(kw::scalar_type, kw::scalar_type{6});
    ECHO(kw::symint, kw::symint(-5));
    ECHO(kw::scalar, kw::scalar(3));
    ECHO(kw::scalar, kw::scalar(3.5));
    ECHO(kw::scalar, kw::scalar(true));
    ECHO(kw::scalar, kw::scalar(std::complex<double>(0, 1)));
}

template <class T> void check_optional(const T &there, int line)
{
    echo_value<std::optional<T>>(std::optional<T>(there), line);
    echo_value<std::optional<T>>(std::optional<T>(), line);
}

void check_optionals()
{
    check_optional<int64_t>(-1, __LINE__);
    check_optional<double>(0.5, __LINE__);
    check_optional<bool>(true, __LINE__);
    check_optional<std::complex<double>>({2, 3}, __LINE__);
    check_optional<kw::device>(kw::device(2), __LINE__);
    check_optional<kw::symint>(9, __LINE__);
    check_optional<kw::scalar>(1.25, __LINE__);
    check_optional<std::string>("there", __LINE__);
    check_optional<std::vector<int64_t>>({1, 2, 3}, __LINE__);
    check_optional<std::vector<std::string>>({"a", ""}, __LINE__);
    check_optional<std::map<std::string, int64_t>>({{"a", 1}}, __LINE__);
}

void check_strings()
{
    const std::string text = "a text that is longer than a short string";
    ECHO(std::string, text);
    ECHO(std::string, std::string());
    echo<std::string_view, std::string>(
        [](std::string_view x) { return std::string(x); }, std::string_view(text).substr(2, 4),
        [](const std::string &got) { return got == "text"; }, __LINE__);
    echo<std::optional<std::string_view>, std::string>(
        [](std::optional<std::string_view> x) { return std::string(x.value_or("none")); },
        std::nullopt, [](const std::string &got) { return got == "none"; }, __LINE__);
}

void check_lists()
{
    ECHO(std::vector<int64_t>, {1, -2, 3});
    ECHO(std::vector<int64_t>, std::vector<int64_t>());
    ECHO(std::vector<double>, {0.5, 1});
    ECHO(std::vector<kw::symint>, {1, 2, 3});
    ECHO(std::vector<kw::scalar_type>, {kw::scalar_type{1}, kw::scalar_type{2}});
    ECHO(std::vector<std::string>, {"", "two", "three"});
    ECHO(std::vector<std::complex<double>>, {{1, 2}, {3, 4}});
    ECHO(std::vector<std::optional<int64_t>>, {1, std::nullopt, 3});
    ECHO(std::vector<std::vector<int64_t>>, {{1}, {}, {2, 3}});
    using pair = std::array<int64_t, 2>;
    echo_value<pair>(pair{4, 5}, __LINE__);
    using flags = std::array<bool, 3>;
    echo_value<flags>(flags{true, false, true}, __LINE__);
    const std::vector<int64_t> many(100, 7);
    echo<kw::view<int64_t>, int64_t>(
        [](kw::view<int64_t> x) {
            int64_t sum = 0;
            for (const int64_t each : x) {
                sum += each;
            }
            return sum;
        },
        kw::view<int64_t>(many), [](int64_t got) { return got == 700; }, __LINE__);
    const bool bools[] = {true, true, false};
    echo<kw::view<bool>, int64_t>([](kw::view<bool> x) { return int64_t{x[0]} + x[1] + x[2]; },
                                  kw::view<bool>(bools), [](int64_t got) { return got == 2; },
                                  __LINE__);
    const kw_symint words[] = {kw_symint_int(4), kw_symint_int(5)};
    echo<kw::view<kw::symint>, kw::symint>(
        [](kw::view<kw::symint> x) { return kw::symint(x[0].expect_int() + int64_t(x.size())); },
        kw::view<kw::symint>(words, 2), [](const kw::symint &got) { return got == 6; }, __LINE__);
}

void check_dicts_tuples_objects()
{
    using dict = std::unordered_map<std::string, double>;
    ECHO(dict, (dict{{"a", 1}, {"b", 2}}));
    using flags = std::map<bool, int64_t>;
    ECHO(flags, (flags{{false, 0}, {true, 1}}));
    using triple = std::tuple<int64_t, std::string, bool>;
    echo<triple, kw::value>(
        [](triple x) { return kw::value::of(x); }, triple(1, "x", true),
        [](const kw::value &got) { return got.as<triple>() == triple(1, "x", true); }, __LINE__);
    using nested = std::vector<std::map<std::string, std::vector<std::optional<flags>>>>;
    ECHO(nested, (nested{{{"x", {flags{{true, 1}}, std::nullopt}}}, {}}));
    const auto model = kw::object<Model>::make(Model{12});
    echo<kw::object<Model>, kw::object<Model>>(
        [](kw::object<Model> x) { return x; }, model,
        [&](const kw::object<Model> &got) { return got.get() == model.get() && got->size == 12; },
        __LINE__);
}

void check_any()
{
    const kw_value seven = kw_value_int(7);
    echo<const kw_value &, kw::value>(
        [](const kw_value &x) { return kw::value::own(x, &tensor_type()); }, seven,
        [&](const kw::value &got) { return equal(got.get(), seven); }, __LINE__);
    const kw::value list = kw::value::of(std::vector<std::string>{"a", "b"});
    echo<const kw::value &, kw::value>(
        [](const kw::value &x) { return x.clone(); }, list.clone(),
        [&](const kw::value &got) { return equal(got.get(), list.get()); }, __LINE__);
    std::vector<kw_value> mixed = {kw_value_int(1), kw_value_string("two")};
    echo<kw::view<kw_value>, int64_t>(
        [](kw::view<kw_value> x) { return x[0].as.as_int + x[1].count; }, kw::view<kw_value>(mixed),
        [](int64_t got) { return got == 4; }, __LINE__);
}

void check_tensors()
{
    const Tensor x(5);
    const auto same = [&](const Tensor &got) { return got.get() == x.get(); };
    echo<Tensor, Tensor>([](Tensor t) { return t; }, x, same, __LINE__);
    echo<const Tensor &, Tensor>([](const Tensor &t) { return t; }, x, same, __LINE__);
    echo<Tensor &, Tensor>([](Tensor &t) { return t; }, x, same, __LINE__);
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("moved", [](Tensor &&t) { return std::move(t); });
    m.def("in_place", [](Tensor &t) -> Tensor & { return t; });
    m.def("same", [](const Tensor &t) -> const Tensor & { return t; });
    for (const char *name : {"my::moved", "my::in_place", "my::same"}) {
        CHECK(same(kw::op_handle::find(d, name).call<Tensor>(x)));
    }
    echo<std::optional<Tensor>, std::optional<Tensor>>(
        [](std::optional<Tensor> t) { return t; }, x,
        [&](const std::optional<Tensor> &got) { return got && same(*got); }, __LINE__);
    echo<std::optional<Tensor>, std::optional<Tensor>>(
        [](std::optional<Tensor> t) { return t; }, std::nullopt,
        [](const std::optional<Tensor> &got) { return !got; }, __LINE__);
    echo<tensor_block *, double>([](tensor_block *t) { return t->number; }, x.get(),
                                 [](double got) { return got == 5; }, __LINE__);
    echo<std::optional<tensor_block *>, bool>(
        [](std::optional<tensor_block *> t) { return t.has_value(); }, std::nullopt,
        [](bool got) { return !got; }, __LINE__);
    CHECK(x.references() == 1);
}

void check_tensor_lists()
{
    const std::vector<Tensor> three = {Tensor(1), Tensor(2), Tensor(3)};
    const auto same = [&](const std::vector<Tensor> &got) {
        return got.size() == 3 && got[2].get() == three[2].get();
    };
    echo<std::vector<Tensor>, std::vector<Tensor>>([](std::vector<Tensor> t) { return t; }, three,
                                                   same, __LINE__);
    void *const handles[] = {three[0].get(), three[1].get()};
    echo<kw::view<Tensor>, double>(
        [](kw::view<Tensor> list) {
            double sum = 0;
            for (const Tensor &each : list) {
                sum += each.number();
            }
            return sum;
        },
        kw::view<Tensor>(handles, 2), [](double got) { return got == 3; }, __LINE__);
    echo<std::vector<std::optional<Tensor>>, int64_t>(
        [](std::vector<std::optional<Tensor>> list) { return int64_t{list[0].has_value()}; },
        {std::nullopt, three[0]}, [](int64_t got) { return got == 0; }, __LINE__);
    void *const gap[] = {nullptr, three[1].get()};
    echo<kw::view<std::optional<Tensor>>, double>(
        [](kw::view<std::optional<Tensor>> list) { return list[0] ? 0 : list[1]->number(); },
        kw::view<std::optional<Tensor>>(gap, 2), [](double got) { return got == 2; }, __LINE__);
    const std::vector<Tensor> twenty(20, three[0]);
    echo<const std::vector<Tensor> &, int64_t>(
        [](const std::vector<Tensor> &list) { return int64_t(list.size()); }, twenty,
        [](int64_t got) { return got == 20; }, __LINE__);
    using dict = std::unordered_map<std::string, Tensor>;
    echo<dict, Tensor>([](dict x) { return x.at("b"); }, {{"a", three[0]}, {"b", three[1]}},
                       [&](const Tensor &got) { return got.get() == three[1].get(); }, __LINE__);
    CHECK(three[1].references() == 1 && three[0].references() == 21);
}

// The keys of a call come from every tensor and generator, wherever it is.
void check_keys()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    const Tensor cpu(1);
    const Tensor cuda(2, {kw::key::CUDA});
    const auto keys = [](kw::keyset of, auto &&...) { return of.has(kw::key::CUDA); };
    m.def("t",
          [&](kw::keyset of, const Tensor &a, std::optional<Tensor> b) { return keys(of, a, b); });
    m.def("l", [&](kw::keyset of, kw::view<Tensor> a, std::optional<std::vector<Tensor>> b) {
        return keys(of, a, b);
    });
    m.def("g", [&](kw::keyset of, kw::generator a) { return keys(of, a); });
    const auto t = kw::op<bool(const Tensor &, std::optional<Tensor>)>::find(d, "my::t");
    CHECK(!t(cpu, cpu) && !t(cpu, std::nullopt) && t(cpu, cuda) && t(cuda, std::nullopt));
    const auto l =
        kw::op<bool(std::vector<Tensor>, std::optional<std::vector<Tensor>>)>::find(d, "my::l");
    CHECK(!l({cpu}, {}) && l({cpu, cuda}, {}) && l({}, {{cuda}}));
    CHECK((kw::op<bool(kw::generator)>::find(d, "my::g")({&d})));
}

void check_several_returns()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    using results = std::tuple<Tensor, int64_t, std::string, kw::symint, std::complex<double>>;
    m.def("many", [](const Tensor &x) { return results(x, 2, "three", 4, {5, 6}); });
    const auto many = kw::op<results(const Tensor &)>::find(d, "my::many");
    const Tensor x(1);
    const auto [t, i, s, y, c] = many(x);
    CHECK(t.get() == x.get() && i == 2 && s == "three" && y == 4 &&
          c == std::complex<double>(5, 6));
    kw::frame<1, 5> frame(&tensor_type());
    frame.arg(0) = kw_value_tensor(x.get());
    kw::op_handle(many.get()).call_boxed(frame.get());
    CHECK(frame.take(1).as<int64_t>() == 2 && frame.take(2).as<std::string>() == "three");
    CHECK(frame.take(4).as<std::complex<double>>().imag() == 6);
}

// A plain kernel of a symbolic operator, and a symbolic value that it cannot take.
void check_symbolic()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("size(Tensor x, SymInt n, SymInt[] more) -> SymInt");
    m.impl("size", kw::key::CPU,
           [](const Tensor &, kw::symint n, kw::view<kw::symint>) { return n; });
    m.def("plain(SymInt n, SymInt[] more) -> int",
          [](int64_t n, kw::view<int64_t> more) { return n + more[0]; });
    const auto size = kw::op<kw::symint(const Tensor &, kw::symint, std::vector<kw::symint>)>::find(
        d, "my::size");
    const auto plain =
        kw::op<int64_t(const kw::symint &, std::vector<kw::symint>)>::find(d, "my::plain");
    const auto node = kw::object<Model>::make(Model{1});
    const auto symbolic = kw::symint::borrow(kw_symint_node(node.get()));
    const Tensor x(1);
    CHECK(size(x, 4, {}) == 4 && size(x, symbolic, {symbolic}) == symbolic);
    CHECK(plain(4, {5, 6}) == 9);
    CHECK_THROWS(KW_SYMBOLIC_VALUE, plain(symbolic, {1}));
    CHECK_THROWS(KW_SYMBOLIC_VALUE, plain(1, {symbolic}));
    CHECK_THROWS(KW_SYMBOLIC_VALUE, (void)symbolic.expect_int());
    kw::op_handle handle(plain.get());
    CHECK(handle.call<int64_t>(kw::symint(1), std::vector<kw::symint>{2}) == 3);
}

} // namespace

int main()
{
    check_numbers();
    check_optionals();
    check_strings();
    check_lists();
    check_dicts_tuples_objects();
    check_any();
    check_tensors();
    check_tensor_lists();
    check_keys();
    check_several_returns();
    check_symbolic();
    CHECK(tensor_block::live == 0);
    return check::done();
}
