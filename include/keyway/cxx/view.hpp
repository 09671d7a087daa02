// Views: what a kernel receives for a list without copying it.
//
// Layer:     cxx (public headers)
// Threads:   any; a view owns nothing and lives as long as what it shows, at most as long as the
//            call.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_VIEW_HPP
#define KW_CXX_VIEW_HPP

#include <iterator>
#include <optional>
#include <type_traits>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/number.hpp>
#include <keyway/cxx/tensor.hpp>

namespace kw {

/// A list of T, borrowed: int64_t, double, bool, kw_value.
template <class T, class = void> class view {
  public:
    using value_type = T;

    constexpr view() noexcept = default;

    constexpr view(const T *data, size_t size) noexcept : data_(data), size_(size)
    {
    }

    template <size_t N> constexpr view(const T (&array)[N]) noexcept : view(array, N)
    {
    }

    /// Of a std::vector or std::array, which has to outlive it.
    template <class Container, class = std::enable_if_t<std::is_same_v<
                                   decltype(std::declval<const Container &>().data()), const T *>>>
    constexpr view(const Container &container) noexcept : view(container.data(), container.size())
    {
    }

    constexpr const T *data() const noexcept
    {
        return data_;
    }

    constexpr size_t size() const noexcept
    {
        return size_;
    }

    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }

    constexpr const T *begin() const noexcept
    {
        return data_;
    }

    constexpr const T *end() const noexcept
    {
        return data_ + size_;
    }

    constexpr const T &operator[](size_t index) const noexcept
    {
        return data_[index];
    }

  private:
    const T *data_ = nullptr;
    size_t size_ = 0;
};

namespace detail {

// What the elements of a view are made of that do not lie in memory as they are used.
template <class T, class = void> struct stored {
    static constexpr bool is_stored = false;
};

template <class T> struct stored<T, std::enable_if_t<is_tensor<T>>> {
    static constexpr bool is_stored = true;
    using type = void *;

    // A reference if that is what tensors are borrowed as; else a tensor of its own, so that one
    // may be kept in a loop's variable.
    static decltype(auto) load(void *handle)
    {
        if constexpr (std::is_reference_v<decltype(tensor_borrowing<T>::borrow(handle))>) {
            return tensor_borrowing<T>::borrow(handle);
        } else {
            return copy_tensor<T>(handle);
        }
    }
};

template <class T> struct stored<std::optional<T>, std::enable_if_t<is_tensor<T>>> {
    static constexpr bool is_stored = true;
    using type = void *;

    static std::optional<T> load(void *handle)
    {
        return handle != nullptr ? std::optional<T>(copy_tensor<T>(handle)) : std::nullopt;
    }
};

template <> struct stored<symint, void> {
    static constexpr bool is_stored = true;
    using type = kw_symint;

    static symint load(kw_symint word) noexcept
    {
        return symint::borrow(word);
    }
};

} // namespace detail

/// A list of tensors, of tensors that may be absent, or of symbolic integers, borrowed. Its
/// elements are made when they are read.
template <class T> class view<T, std::enable_if_t<detail::stored<T>::is_stored>> {
    using stored = detail::stored<T>;

  public:
    using value_type = T;
    using stored_type = typename stored::type;

    constexpr view() noexcept = default;

    constexpr view(const stored_type *data, size_t size) noexcept : data_(data), size_(size)
    {
    }

    class iterator {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = decltype(stored::load(std::declval<stored_type>()));

        explicit iterator(const stored_type *at) noexcept : at_(at)
        {
        }

        reference operator*() const
        {
            return stored::load(*at_);
        }

        iterator &operator++() noexcept
        {
            ++at_;
            return *this;
        }

        friend bool operator==(iterator a, iterator b) noexcept
        {
            return a.at_ == b.at_;
        }

        friend bool operator!=(iterator a, iterator b) noexcept
        {
            return a.at_ != b.at_;
        }

      private:
        const stored_type *at_;
    };

    /// The elements as the library has them: handles, or words.
    constexpr const stored_type *data() const noexcept
    {
        return data_;
    }

    constexpr size_t size() const noexcept
    {
        return size_;
    }

    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }

    iterator begin() const noexcept
    {
        return iterator(data_);
    }

    iterator end() const noexcept
    {
        return iterator(data_ + size_);
    }

    decltype(auto) operator[](size_t index) const
    {
        return stored::load(data_[index]);
    }

  private:
    const stored_type *data_ = nullptr;
    size_t size_ = 0;
};

} // namespace kw

#endif // KW_CXX_VIEW_HPP
