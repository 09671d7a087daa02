// Tensors in C++: what the header has to know of the embedder's tensor class.
//
// Layer:     cxx (public headers)
// Threads:   the functions of a specialisation are called from any thread.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_TENSOR_HPP
#define KW_CXX_TENSOR_HPP

#include <utility>

#include <keyway/cxx/base.hpp>

namespace kw {

/// Says how a class stands for the embedder's tensor, which the library knows as a `void *`, its
/// handle. Specialise it before the class is first used with anything of this header:
///
///     template <> struct kw::tensor_traits<Tensor> {
///         static void *handle(const Tensor &tensor) noexcept; // borrowed from the tensor
///         static void *release(Tensor &&tensor) noexcept;     // with a reference, given away
///         static Tensor adopt(void *handle) noexcept;         // takes the handle's reference over
///         static kw_keyset keys(const Tensor &tensor) noexcept;
///     };
///
/// NULL is the absent tensor: adopt() makes one of it, handle() and release() give it for one.
/// Optional members:
///
///     static Tensor &borrow(void *handle);   // for a kernel's argument; a Tensor by value, too
///     static constexpr bool takes_null = true; // Tensor arguments, not only Tensor?, may be
///     absent
///
/// Without borrow() an argument is adopted for the length of the call and released again, which
/// touches no reference count.
template <class T> struct tensor_traits;

/// For tensors that are used as bare pointers, whose handles they are. A kernel returns a pointer
/// with a reference.
///
///     template <> struct kw::tensor_traits<Tensor *> : kw::pointer_tensor<Tensor> {
///         static kw_keyset keys(const Tensor *tensor) noexcept; // never NULL
///     };
template <class T> struct pointer_tensor {
    static constexpr bool takes_null = true;

    static T *borrow(void *handle) noexcept
    {
        return static_cast<T *>(handle);
    }

    static void *handle(T *tensor) noexcept
    {
        return tensor;
    }

    static void *release(T *tensor) noexcept
    {
        return tensor;
    }

    static T *adopt(void *handle) noexcept
    {
        return static_cast<T *>(handle);
    }
};

namespace detail {

template <class T, class = void> inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<T, std::void_t<decltype(sizeof(tensor_traits<T>))>> = true;

template <class T, class = void> inline constexpr bool tensor_takes_null = false;
template <class T>
inline constexpr bool tensor_takes_null<T, std::void_t<decltype(tensor_traits<T>::takes_null)>> =
    tensor_traits<T>::takes_null;

// A tensor that has its handle's reference only on loan.
template <class T> class loan {
  public:
    explicit loan(void *handle) noexcept : tensor_(tensor_traits<T>::adopt(handle))
    {
    }

    loan(const loan &) = delete;
    loan &operator=(const loan &) = delete;

    ~loan()
    {
        (void)tensor_traits<T>::release(std::move(tensor_));
    }

    operator const T &() const noexcept
    {
        return tensor_;
    }

  private:
    T tensor_;
};

template <class T, class = void> struct tensor_borrowing {
    static loan<T> borrow(void *handle) noexcept
    {
        return loan<T>(handle);
    }
};

template <class T>
struct tensor_borrowing<T, std::void_t<decltype(tensor_traits<T>::borrow(nullptr))>> {
    static decltype(auto) borrow(void *handle)
    {
        return tensor_traits<T>::borrow(handle);
    }
};

// A copy of a borrowed tensor, with a reference of its own.
template <class T> T copy_tensor(void *handle)
{
    auto &&loaned = tensor_borrowing<T>::borrow(handle);
    const T &borrowed = loaned;
    return borrowed;
}

template <class T> kw_keyset tensor_keys(const T &tensor)
{
    return tensor_traits<T>::keys(tensor);
}

template <class T> kw_keyset tensor_keys(T *const &tensor)
{
    return tensor != nullptr ? tensor_traits<T *>::keys(tensor) : kw_keyset_empty();
}

} // namespace detail

/// Makes the tensor type of a class whose handles are counted references, from its traits. `name`
/// lives as long as what it is given to.
template <class T> kw_tensor_type make_tensor_type(const char *name, uint32_t version = 1) noexcept
{
    static_assert(std::is_copy_constructible_v<T> && !std::is_pointer_v<T>,
                  "Keyway: only a class that copies with a reference makes its own tensor type");
    kw_tensor_type type = {};
    type.struct_size = sizeof type;
    type.name = name;
    type.version = version;
    type.keys = [](const void *handle) -> kw_keyset {
        auto &&loaned = detail::tensor_borrowing<T>::borrow(const_cast<void *>(handle));
        return tensor_traits<T>::keys(static_cast<const T &>(loaned));
    };
    type.retain = [](void *handle) {
        (void)tensor_traits<T>::release(detail::copy_tensor<T>(handle));
    };
    type.release = [](void *handle) { (void)tensor_traits<T>::adopt(handle); };
    return type;
}

namespace detail {

// What values with tensors of this class are released with where no dispatcher says it.
template <class T> const kw_tensor_type *own_tensor_type(const kw_tensor_type *given) noexcept
{
    if constexpr (std::is_copy_constructible_v<T> && !std::is_pointer_v<T>) {
        static const kw_tensor_type type = make_tensor_type<T>("a C++ tensor");
        return given != nullptr ? given : &type;
    } else {
        return given;
    }
}

} // namespace detail
} // namespace kw

#endif // KW_CXX_TENSOR_HPP
