// Owned values in C++: a kw_value that ends with its scope.
//
// Layer:     cxx (public headers)
// Threads:   a value belongs to whoever holds it.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_VALUE_HPP
#define KW_CXX_VALUE_HPP

#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>

namespace kw {

/// An owned value: anything a boxed call can carry. Any, and what the C++ type does not say.
class value {
  public:
    /// None.
    value() noexcept : value_(kw_value_none())
    {
    }

    /// Takes over an owned value. A tensor in it is released through `type`, which outlives it.
    static value adopt(kw_value take, const kw_tensor_type *type) noexcept
    {
        value made;
        made.value_ = take;
        made.type_ = type;
        return made;
    }

    /// Makes an owned value of a borrowed one, as kw_value_own() does.
    static value own(const kw_value &borrowed, const kw_tensor_type *type)
    {
        return try_own(borrowed, type).value();
    }

    static result<value> try_own(const kw_value &borrowed, const kw_tensor_type *type) noexcept
    {
        kw_error err = KW_ERROR_INIT;
        kw_value owned = kw_value_none();
        if (kw_value_own(&borrowed, type, &owned, &err) != KW_OK) {
            return failure(err);
        }
        return adopt(owned, type);
    }

    /// Makes a value of anything that can be an argument: see docs/cxx.md.
    template <class T> static value of(const T &from, const kw_tensor_type *type = nullptr);

    value(value &&other) noexcept
        : value_(std::exchange(other.value_, kw_value_none())), type_(other.type_)
    {
    }

    value &operator=(value &&other) noexcept
    {
        if (this != &other) {
            kw_value_release(&value_, type_);
            value_ = std::exchange(other.value_, kw_value_none());
            type_ = other.type_;
        }
        return *this;
    }

    ~value()
    {
        if (value_.tag >= KW_TAG_POINTER) {
            kw_value_release(&value_, type_);
        }
    }

    /// One more owner of the same contents.
    value clone() const
    {
        return own(value_, type_);
    }

    /// It as a T, copied; throws KW_WRONG_VALUE if it is none. Views are borrowed from it.
    template <class T> T as() const;
    template <class T> result<T> try_as() const;

    /// Whether as<T>() gives one.
    template <class T> bool is() const noexcept;

    bool is_none() const noexcept
    {
        return value_.tag == KW_TAG_NONE;
    }

    /// Borrowed.
    const kw_value &get() const noexcept
    {
        return value_;
    }

    const kw_tensor_type *tensor_type() const noexcept
    {
        return type_;
    }

    /// Gives the owned value away and leaves None.
    kw_value release() noexcept
    {
        return std::exchange(value_, kw_value_none());
    }

  private:
    kw_value value_;
    const kw_tensor_type *type_ = nullptr;
};

} // namespace kw

#endif // KW_CXX_VALUE_HPP
