// List arguments: views, vectors and arrays.
//
// Layer:     cxx (public headers)
// Threads:   any; run in calls.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_ARGUMENT_LIST_HPP
#define KW_CXX_ARGUMENT_LIST_HPP

#include <array>
#include <memory>
#include <vector>

#include <keyway/cxx/argument.hpp>
#include <keyway/cxx/argument_optional.hpp>
#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec_list.hpp>
#include <keyway/cxx/view.hpp>

namespace kw::detail {

// The letter of a list of T.
template <class T, class = void> inline constexpr char list_letter = 'V';
template <> inline constexpr char list_letter<int64_t, void> = 'I';
template <> inline constexpr char list_letter<double, void> = 'D';
template <> inline constexpr char list_letter<bool, void> = 'B';
template <> inline constexpr char list_letter<symint, void> = 'Y';
template <class T>
inline constexpr char list_letter<T, std::enable_if_t<named_integer<T>::word != nullptr>> = 'I';
template <class T> inline constexpr char list_letter<T, std::enable_if_t<is_tensor<T>>> = 'T';
template <class T>
inline constexpr char list_letter<std::optional<T>, std::enable_if_t<is_tensor<T>>> = 'T';

template <class T> struct tensor_of {
    using type = T;
};
template <class T> struct tensor_of<std::optional<T>> {
    using type = T;
};

// The keys of a list of tensors, read from their handles.
template <class T> kw_keyset list_keys(const kw_tensor_list &list)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.data[i] != nullptr) {
            auto &&loaned = tensor_borrowing<T>::borrow(list.data[i]);
            bits |= tensor_keys(static_cast<const T &>(loaned)).bits;
        }
    }
    return kw_keyset{bits};
}

// Elements copied for a call; few of them need no memory.
template <class T> class small_array {
  public:
    explicit small_array(size_t size)
        : heap_(size > sizeof inline_ / sizeof inline_[0] ? new T[size] : nullptr)
    {
    }

    T *data() noexcept
    {
        return heap_ != nullptr ? heap_.get() : inline_;
    }

    const T *data() const noexcept
    {
        return heap_ != nullptr ? heap_.get() : inline_;
    }

  private:
    T inline_[8];
    std::unique_ptr<T[]> heap_;
};

// The C element that stands for one of a caller's.

inline int64_t store(int64_t element) noexcept
{
    return element;
}

template <class T> std::enable_if_t<named_integer<T>::word != nullptr, int64_t> store(T element)
{
    return static_cast<int64_t>(element);
}

inline kw_symint store(const symint &element) noexcept
{
    return element.get();
}

template <class T> std::enable_if_t<is_tensor<T>, void *> store(const T &element)
{
    return tensor_traits<T>::handle(element);
}

template <class T> std::enable_if_t<is_tensor<T>, void *> store(const std::optional<T> &element)
{
    return element ? tensor_traits<T>::handle(*element) : nullptr;
}

// Carries a list that lies in memory as C has it.
template <class Container, class List> struct direct_carrier {
    explicit direct_carrier(const Container &from) : list{from.data(), from.size()}
    {
    }

    List get() const noexcept
    {
        return list;
    }

    List list;
};

// Carries a list whose elements are copied into C's.
template <class Container, class List> class copying_carrier {
    using element = std::remove_cv_t<std::remove_pointer_t<decltype(List::data)>>;

  public:
    explicit copying_carrier(const Container &from) : elements_(from.size()), size_(from.size())
    {
        size_t count = 0;
        for (const auto &each : from) {
            elements_.data()[count++] = store(each);
        }
    }

    List get() const noexcept
    {
        return {elements_.data(), size_};
    }

  private:
    small_array<element> elements_;
    size_t size_;
};

// Carries a list of values.
template <class Container> class boxing_carrier {
  public:
    boxing_carrier(const Container &from, const kw_operator *op)
        : value_(codec<Container>::to(from, kw_operator_tensor_type(op)))
    {
    }

    kw_value_list get() const noexcept
    {
        return {value_.get().as.as_values, value_.get().count};
    }

  private:
    value value_;
};

template <class Container, class T> class list_carrier {
    static constexpr char letter = list_letter<T>;
    using list = typename form<letter>::type;
    template <class Elements>
    static constexpr bool is_direct =
        std::is_same_v<decltype(std::declval<Elements>().data()), decltype(list::data)>;
    using carrier =
        std::conditional_t<is_direct<const Container &>, direct_carrier<Container, list>,
                           std::conditional_t<letter == 'V', boxing_carrier<Container>,
                                              copying_carrier<Container, list>>>;

  public:
    list_carrier(const Container &from, const kw_operator *op) : carrier_(make(from, op))
    {
    }

    list get() const noexcept
    {
        return carrier_.get();
    }

    kw_keyset keys(const kw_operator *) const
    {
        if constexpr (letter == 'T') {
            return list_keys<typename tensor_of<T>::type>(get());
        } else {
            return kw_keyset_empty();
        }
    }

  private:
    static carrier make(const Container &from, [[maybe_unused]] const kw_operator *op)
    {
        if constexpr (std::is_same_v<carrier, boxing_carrier<Container>>) {
            return carrier(from, op);
        } else {
            return carrier(from);
        }
    }

    carrier carrier_;
};

// A container of T, copied for a kernel.
template <class Container, class T> struct container_argument {
    using form = detail::form<list_letter<T>>;
    using list = typename form::type;
    using carrier = list_carrier<Container, T>;
    static constexpr absence optional = absence::by_pointer;
    static constexpr bool needs_type = list_letter<T> == 'V';

    static bool accepts(const list &c) noexcept
    {
        return codec<Container>::fits(form::set(c));
    }

    static Container load(const list &c, const kw_tensor_type *type)
    {
        return codec<Container>::from(form::set(c), type);
    }
};

template <class T> struct argument<std::vector<T>, void> : container_argument<std::vector<T>, T> {
};
template <class T, size_t N>
struct argument<std::array<T, N>, void> : container_argument<std::array<T, N>, T> {
};

// A view, in place. Views are arguments and nothing else, so their codec is a name.
template <class T> struct codec<view<T>, void> : list_name<T> {
    static_assert(stored<T>::is_stored || list_letter<T> != 'V' || std::is_same_v<T, kw_value>,
                  "Keyway: only lists of int64_t, double, bool, kw::symint, kw_value and tensors "
                  "can be viewed; use a std::vector");
    static_assert(named_integer<T>::word == nullptr,
                  "Keyway: a list of this type cannot be viewed; use a std::vector");

    static bool fits(const kw_value &value) noexcept
    {
        return list_codec<T>::fits(value);
    }
};

template <class T> struct argument<view<T>, void> {
    using form = detail::form<list_letter<T>>;
    using list = typename form::type;
    using carrier = list_carrier<view<T>, T>;
    static constexpr absence optional = absence::by_pointer;
    static constexpr bool needs_type = false;

    static constexpr bool accepts(const list &) noexcept
    {
        return sizeof(codec<view<T>>) > 0;
    }

    static view<T> load(const list &c, const kw_tensor_type *) noexcept
    {
        return view<T>(c.data, c.count);
    }
};

} // namespace kw::detail

#endif // KW_CXX_ARGUMENT_LIST_HPP
