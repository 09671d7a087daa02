// Keys and key sets in C++: constants with PyTorch's names, and the set's algebra as operators.
//
// Layer:     cxx (public headers)
// Threads:   any; values only.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_KEY_HPP
#define KW_CXX_KEY_HPP

#include <initializer_list>

#include <keyway/cxx/base.hpp>

namespace kw {

/// Every key by its name: kw::key::CPU, kw::key::AutogradCUDA, kw::key::CompositeImplicitAutograd.
/// They come from the lists of key.h.
namespace key {

#define KWI_CONSTANT(name, number, is_building_block) inline constexpr kw_key name = KW_KEY_##name;
KW_FUNCTIONALITY_LIST(KWI_CONSTANT)
#undef KWI_CONSTANT

#define KWI_CONSTANT(name, number)                                                                 \
    inline constexpr kw_key name = KW_KEY_##name;                                                  \
    inline constexpr kw_key Quantized##name = KW_KEY_Quantized##name;                              \
    inline constexpr kw_key Sparse##name = KW_KEY_Sparse##name;                                    \
    inline constexpr kw_key SparseCsr##name = KW_KEY_SparseCsr##name;                              \
    inline constexpr kw_key NestedTensor##name = KW_KEY_NestedTensor##name;                        \
    inline constexpr kw_key Autograd##name = KW_KEY_Autograd##name;
KW_BACKEND_LIST(KWI_CONSTANT)
#undef KWI_CONSTANT

#define KWI_CONSTANT(name, number) inline constexpr kw_key name = KW_KEY_##name;
KW_ALIAS_LIST(KWI_CONSTANT)
#undef KWI_CONSTANT

#define KWI_CONSTANT(old_name, name) inline constexpr kw_key old_name = KW_KEY_##old_name;
KW_KEY_SYNONYM_LIST(KWI_CONSTANT)
#undef KWI_CONSTANT

} // namespace key

/// A set of keys. See Note [Cross product] in keyset.h for what it cannot say.
class keyset {
  public:
    constexpr keyset() noexcept = default;

    constexpr keyset(kw_keyset keys) noexcept : bits_(keys.bits)
    {
    }

    constexpr keyset(std::initializer_list<kw_key> keys) noexcept
    {
        for (const kw_key key : keys) {
            bits_ |= bits_of(key);
        }
    }

    constexpr operator kw_keyset() const noexcept
    {
        return kw_keyset{bits_};
    }

    constexpr uint64_t bits() const noexcept
    {
        return bits_;
    }

    /// Whether functionality and backend of the key are in the set.
    bool has(kw_key key) const noexcept
    {
        return kw_keyset_has(*this, key);
    }

    bool has_any(keyset other) const noexcept
    {
        return (bits_ & other.bits_) != 0;
    }

    bool is_empty() const noexcept
    {
        return bits_ == 0;
    }

    /// The key that a call with this set selects.
    kw_key highest() const noexcept
    {
        return kw_keyset_highest_key(*this);
    }

    /// What a kernel of `key` keeps of this set when it dispatches again.
    keyset below(kw_key key) const noexcept
    {
        return keyset(kw_keyset_intersection(*this, kw_keyset_full_after(key)));
    }

    friend constexpr keyset operator|(keyset a, keyset b) noexcept
    {
        return keyset(kw_keyset{a.bits_ | b.bits_});
    }

    friend constexpr keyset operator&(keyset a, keyset b) noexcept
    {
        return keyset(kw_keyset{a.bits_ & b.bits_});
    }

    /// Without the functionalities of `b`; the backends of `a` stay.
    friend constexpr keyset operator-(keyset a, keyset b) noexcept
    {
        return keyset(kw_keyset{a.bits_ & (KW_KEYSET_BACKEND_MASK | ~b.bits_)});
    }

    friend constexpr bool operator==(keyset a, keyset b) noexcept
    {
        return a.bits_ == b.bits_;
    }

    friend constexpr bool operator!=(keyset a, keyset b) noexcept
    {
        return a.bits_ != b.bits_;
    }

  private:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
    static constexpr uint64_t bits_of(kw_key key) noexcept
    {
        return KW_KEYSET_BITS(key);
    }
#pragma GCC diagnostic pop

    uint64_t bits_ = 0;
};

} // namespace kw

#endif // KW_CXX_KEY_HPP
