// The schema and the C signature code that are inferred from a function, type by type.
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

// Checks code and schema of a function type, and that the library takes both for each other.
template <class Function>
void expect(const char *code, const char *schema, const char *file, int line)
{
    using signature = kw::detail::signature_of<Function>;
    check::equal_texts(signature::code(), code, file, line);
    check::equal_texts(signature::schema(), schema, file, line);
    kw_error err = KW_ERROR_INIT;
    kw_schema *parsed = nullptr;
    const std::string named = "f" + signature::schema();
    if (!check::holds(kw_schema_parse(named.c_str(), &parsed, &err) == KW_OK, err.text, file,
                      line)) {
        return;
    }
    char buffer[512];
    (void)kw_schema_c_signature(parsed, buffer, sizeof buffer);
    check::equal_texts(buffer, code, file, line);
    kw_schema_destroy(parsed);
}

#define EXPECT(code, schema, ...) expect<__VA_ARGS__>(code, schema, __FILE__, __LINE__)

// The example of the facts, and the forms of parameters and results.
void check_functions()
{
    EXPECT("ti?dIbs>ti",
           "(Tensor _0, int _1, float? _2, int[] _3, bool _4, str _5) -> (Tensor _0, int _1)",
           std::tuple<Tensor, int64_t>(Tensor, int64_t, std::optional<double>, kw::view<int64_t>,
                                       bool, std::string));
    EXPECT(">", "() -> ()", void());
    EXPECT(">", "() -> ()", std::tuple<>());
    EXPECT("tttt>t", "(Tensor _0, Tensor _1, Tensor _2, Tensor _3) -> (Tensor _0)",
           Tensor(Tensor, const Tensor &, Tensor &, Tensor &&));
    EXPECT("t>", "(Tensor _0) -> ()", kw::result<void>(const Tensor &));
    EXPECT("t>tt", "(Tensor _0) -> (Tensor _0, Tensor _1)",
           kw::result<std::tuple<Tensor, Tensor>>(const Tensor &));
}

void check_plain_types()
{
    EXPECT("i>i", "(int _0) -> (int _0)", int64_t(int64_t));
    EXPECT("d>d", "(float _0) -> (float _0)", double(const double &));
    EXPECT("b>b", "(bool _0) -> (bool _0)", bool(bool));
    EXPECT("c>c", "(complex _0) -> (complex _0)", std::complex<double>(std::complex<double>));
    EXPECT("e>e", "(Device _0) -> (Device _0)", kw::device(kw::device));
    EXPECT("e>e", "(Device _0) -> (Device _0)", kw_device(kw_device));
    EXPECT("y>y", "(SymInt _0) -> (SymInt _0)", kw::symint(const kw::symint &));
    EXPECT("n>n", "(Scalar _0) -> (Scalar _0)", kw::scalar(kw::scalar));
    EXPECT("s>v", "(str _0) -> (str _0)", std::string(std::string_view));
    EXPECT("g>v", "(Generator _0) -> (Generator _0)", kw::generator(kw::generator));
    EXPECT("iiiii>",
           "(ScalarType _0, Layout _1, MemoryFormat _2, DeviceIndex _3, QScheme _4) -> ()",
           void(kw::scalar_type, kw::layout, kw::memory_format, kw::device_index, kw::qscheme));
    EXPECT("v>v", "(Any _0) -> (Any _0)", kw::value(const kw_value &));
    EXPECT("v>v", "(Any _0) -> (Any _0)", kw::value(kw::value));
}

void check_optional_types()
{
    EXPECT("t>t", "(Tensor? _0) -> (Tensor? _0)", std::optional<Tensor>(std::optional<Tensor>));
    EXPECT(
        "?i?d?b>v", "(int? _0, float? _1, bool? _2) -> (int? _0)",
        std::optional<int64_t>(std::optional<int64_t>, std::optional<double>, std::optional<bool>));
    EXPECT("?c?e?y>v", "(complex? _0, Device? _1, SymInt? _2) -> (SymInt? _0)",
           std::optional<kw::symint>(std::optional<std::complex<double>>, std::optional<kw::device>,
                                     std::optional<kw::symint>));
    EXPECT("sgn>n", "(str? _0, Generator? _1, Scalar? _2) -> (Scalar? _0)",
           std::optional<kw::scalar>(std::optional<std::string>, std::optional<kw::generator>,
                                     std::optional<kw::scalar>));
    EXPECT("?I?D?B?T?Y?V>v",
           "(int[]? _0, float[]? _1, bool[]? _2, Tensor[]? _3, SymInt[]? _4, str[]? _5) -> "
           "(int[]? _0)",
           std::optional<std::vector<int64_t>>(
               std::optional<std::vector<int64_t>>, std::optional<kw::view<double>>,
               std::optional<kw::view<bool>>, std::optional<std::vector<Tensor>>,
               std::optional<std::vector<kw::symint>>, std::optional<std::vector<std::string>>));
    EXPECT("?i>", "(ScalarType? _0) -> ()", void(std::optional<kw::scalar_type>));
}

void check_lists()
{
    EXPECT("III>v", "(int[] _0, int[] _1, int[2] _2) -> (int[] _0)",
           std::vector<int64_t>(std::vector<int64_t>, kw::view<int64_t>, std::array<int64_t, 2>));
    EXPECT("DD>v", "(float[] _0, float[] _1) -> (float[] _0)",
           std::vector<double>(const std::vector<double> &, kw::view<double>));
    EXPECT("BB>v", "(bool[] _0, bool[3] _1) -> (bool[3] _0)",
           std::array<bool, 3>(kw::view<bool>, std::array<bool, 3>));
    EXPECT("TTTT>v", "(Tensor[] _0, Tensor[] _1, Tensor?[] _2, Tensor?[] _3) -> (Tensor[] _0)",
           std::vector<Tensor>(std::vector<Tensor>, kw::view<Tensor>,
                               std::vector<std::optional<Tensor>>,
                               kw::view<std::optional<Tensor>>));
    EXPECT("YY>v", "(SymInt[] _0, SymInt[] _1) -> (SymInt[] _0)",
           std::vector<kw::symint>(std::vector<kw::symint>, kw::view<kw::symint>));
    EXPECT("IV>", "(ScalarType[] _0, str[] _1) -> ()",
           void(std::vector<kw::scalar_type>, std::vector<std::string>));
    EXPECT("VV>", "(complex[] _0, Device[] _1) -> ()",
           void(std::vector<std::complex<double>>, std::vector<kw::device>));
    EXPECT("VVV>", "(int?[] _0, int[][] _1, Any[] _2) -> ()",
           void(std::vector<std::optional<int64_t>>, std::vector<std::vector<int64_t>>,
                kw::view<kw_value>));
}

void check_the_rest()
{
    EXPECT("v>v", "(Dict(str, Tensor) _0) -> (Dict(int, float) _0)",
           std::map<int64_t, double>(std::unordered_map<std::string, Tensor>));
    EXPECT("v>", "((int, str, Tensor) _0) -> ()", void(std::tuple<int64_t, std::string, Tensor>));
    EXPECT(
        "vv>", "(Dict(bool, int)? _0, (int, int)? _1) -> ()",
        void(std::optional<std::map<bool, int64_t>>, std::optional<std::tuple<int64_t, int64_t>>));
    EXPECT("V>", "(Dict(str, int[])[] _0) -> ()",
           void(std::vector<std::map<std::string, std::vector<int64_t>>>));
    EXPECT("v>v", "(__torch__.torch.classes.my.Model _0) -> (__torch__.torch.classes.my.Model _0)",
           kw::object<Model>(kw::object<Model>));
    EXPECT("tT>t", "(Tensor _0, Tensor[] _1) -> (Tensor _0)",
           tensor_block * (tensor_block *, kw::view<tensor_block *>));
    EXPECT("t>", "(Tensor? _0) -> ()", void(std::optional<tensor_block *>));
}

int64_t plain(int64_t n)
{
    return n;
}

int64_t silent(int64_t n) noexcept
{
    return n;
}

struct functor {
    double operator()(kw::keyset, const kw_kernel &, double x) const noexcept
    {
        return x;
    }
};

void expect_kernel(const kw::kernel &kernel, const char *code, const char *schema, int line)
{
    check::equal_texts(kernel.code(), code, __FILE__, line);
    check::equal_texts(kernel.schema(), schema, __FILE__, line);
}

// Leading parameters are no arguments.
void check_kernels()
{
    const char *ints = "(int _0) -> (int _0)";
    expect_kernel(&plain, "i>i", ints, __LINE__);
    expect_kernel(plain, "i>i", ints, __LINE__);
    expect_kernel(&silent, "i>i", ints, __LINE__);
    expect_kernel(kw::fn<&plain>, "i>i", ints, __LINE__);
    expect_kernel(kw::fn<silent>, "i>i", ints, __LINE__);
    expect_kernel([](int64_t n) { return n; }, "i>i", ints, __LINE__);
    expect_kernel([](kw_keyset, int64_t n) { return n; }, "i>i", ints, __LINE__);
    expect_kernel([](kw::keyset, int64_t n) mutable { return n; }, "i>i", ints, __LINE__);
    expect_kernel([](kw::kernel_context, int64_t n) noexcept { return n; }, "i>i", ints, __LINE__);
    expect_kernel([](const kw_kernel &, const kw::keyset &, int64_t n) { return n; }, "i>i", ints,
                  __LINE__);
    expect_kernel(functor{}, "d>d", "(float _0) -> (float _0)", __LINE__);
    CHECK_HAS(kw::kernel(kw::fn<&plain>).describe(kw::place::here()).name, "::plain");
    CHECK(kw::boxed(kw_boxed_function(nullptr)).code() == nullptr);
}

} // namespace

int main()
{
    check_functions();
    check_plain_types();
    check_optional_types();
    check_lists();
    check_the_rest();
    check_kernels();
    return check::done();
}
