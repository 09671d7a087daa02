// Boxed kernels in C++, and frames that end with their scope.
//
// Layer:     cxx (public headers)
// Threads:   a kernel is called from any thread; a frame belongs to one.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_BOXED_HPP
#define KW_CXX_BOXED_HPP

#include <array>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/kernel.hpp>
#include <keyway/cxx/value.hpp>

namespace kw {
namespace detail {

template <class F> struct boxed_trampoline {
    using function_result = typename callable<F>::result;
    static_assert(
        std::is_same_v<typename callable<F>::parameters, types<kernel_context, kw_frame &>> ||
            std::is_same_v<typename callable<F>::parameters,
                           types<const kernel_context &, kw_frame &>>,
        "Keyway: a boxed kernel takes a kw::kernel_context and a kw_frame &");

    static kw_status run(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                         kw_frame *frame)
    {
        KWI_CXX_TRY
        {
            return storage<F>::with(self, [&](auto &function) -> kw_status {
                const kernel_context context(self, op, keys);
                if constexpr (std::is_void_v<function_result>) {
                    function(context, *frame);
                    return KW_OK;
                } else if constexpr (is_result<function_result>) {
                    const auto made = function(context, *frame);
                    return made ? KW_OK : error(made.why()).report();
                } else {
                    static_assert(std::is_same_v<function_result, kw_status>,
                                  "Keyway: a boxed kernel returns nothing, a kw_status or a "
                                  "kw::result<void>");
                    return function(context, *frame);
                }
            });
        }
        KWI_CXX_CATCH_ALL
        {
            return caught();
        }
    }
};

} // namespace detail

template <class F> kernel kernel::make_boxed(F &&function)
{
    using made_type = std::decay_t<F>;
    kernel made;
    made.descriptor_.kind = KW_KERNEL_BOXED;
    made.name_ = detail::name_of(function);
    if constexpr (std::is_same_v<made_type, kw_boxed_function>) {
        made.descriptor_.boxed = function;
    } else {
        made.descriptor_.boxed = &detail::boxed_trampoline<made_type>::run;
        made.keep<made_type>(std::forward<F>(function));
    }
    return made;
}

/// A boxed kernel: of a C function, or of anything with one operator() that takes a
/// kw::kernel_context and a `kw_frame &` and returns nothing, a kw_status or a kw::result<void>.
/// It may throw.
template <class F> kernel boxed(F &&function)
{
    return kernel::make_boxed(std::forward<F>(function));
}

/// A frame with room for constant numbers of values, which releases the returns it still has.
template <size_t Args, size_t Returns> class frame {
  public:
    explicit frame(const kw_tensor_type *type = nullptr) noexcept
        : type_(type), frame_(kw_frame_make(args_.data(), Args, returns_.data(), Returns))
    {
    }

    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;

    ~frame()
    {
        kw_frame_release_returns(&frame_, type_);
    }

    /// The argument to set; borrowed by the frame.
    kw_value &arg(size_t index) noexcept
    {
        return args_[index];
    }

    /// Takes a return out.
    value take(size_t index) noexcept
    {
        return value::adopt(std::exchange(returns_[index], kw_value_none()), type_);
    }

    kw_frame &get() noexcept
    {
        return frame_;
    }

  private:
    std::array<kw_value, Args + 1> args_;
    std::array<kw_value, Returns + 1> returns_;
    const kw_tensor_type *type_;
    kw_frame frame_;
};

} // namespace kw

#endif // KW_CXX_BOXED_HPP
