// What must not compile, line by line, with the sentence that the compiler has to say.
//
// check_rejections compiles this file and expects for each line that ends in `// expect: text` an
// error with that text that was caused by that line. A type is rejected once, where it is first
// used. SPDX-License-Identifier: MIT

#include <keyway/keyway.hpp>

namespace {

struct unknown {};
struct inner {};

struct overloaded {
    void operator()(int64_t);
    void operator()(double);
};

template <class... Function> void kernels(Function... function)
{
    (static_cast<void>(kw::kernel(function)), ...);
}

void rejected()
{
    kernels([](int) {});                                        // expect: integers are int64_t
    kernels([](unsigned) {});                                   // expect: integers are int64_t
    kernels([](uint64_t) {});                                   // expect: integers are int64_t
    kernels([](long long) {});                                  // expect: integers are int64_t
    kernels([](char) {});                                       // expect: integers are int64_t
    kernels([]() -> short { return 0; });                       // expect: integers are int64_t
    kernels([](std::vector<uint16_t>) {});                      // expect: integers are int64_t
    kernels([](float) {});                                      // expect: floats are double
    kernels([]() -> long double { return 0; });                 // expect: floats are double
    kernels([](const char *) {});                               // expect: use std::string_view
    kernels([](char *) {});                                     // expect: use std::string_view
    kernels([](std::vector<bool>) {});                          // expect: use kw::view<bool>
    kernels([](std::vector<kw::scalar>) {});                    // expect: a list of Scalar
    kernels([](std::map<kw::symint, int64_t>) {});              // expect: keys of a Dict
    kernels([](std::unordered_map<std::string_view, bool>) {}); // expect: keys of a Dict
    kernels([](std::tuple<>) {});                               // expect: an empty tuple
    kernels([](unknown) {});                                    // expect: no place in a schema
    kernels([](std::optional<inner>) {});                       // expect: no place in a schema
    kernels([](unknown *) {});                                  // expect: this pointer is no tensor
    kernels([](kw::view<std::string>) {});                      // expect: can be viewed
    kernels([](kw::view<kw::layout>) {});                       // expect: cannot be viewed
    kernels([]() -> kw::view<double> { return {}; });           // expect: a view cannot be returned
    kernels([]() -> std::string_view { return {}; });           // expect: a view cannot be returned
    kernels([]() -> kw_value { return {}; });                   // expect: return a kw::value
    kernels(overloaded());                                      // expect: exactly one operator()
    kernels([](auto x) { return x; });                          // expect: exactly one operator()
    kernels(unknown());                                         // expect: exactly one operator()
    kw::boxed([](kw_frame &) {});                               // expect: a boxed kernel takes
    kw::op<const double &(double)>::find("f")(1);               // expect: a call returns by value
}

} // namespace

void use();

void use()
{
    rejected();
}
