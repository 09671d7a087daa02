// Forms: each letter of a C signature code, as a C type and as a boxed value.
//
// Layer:     cxx (public headers)
// Threads:   any; nothing here is shared.
// Stability: experimental.
// SPDX-License-Identifier: MIT
//
// Note [Forms]
//
// A form knows the C parameter of one letter and how it lies in a frame; the pieces are those of
// Note [Thunks] in inline/box.h. Thunks are made of forms alone, so functions with one C signature
// share them, whatever their C++ types. What a C++ type does with its form's C parameter is in
// argument.hpp and returned.hpp.

#ifndef KW_CXX_FORM_HPP
#define KW_CXX_FORM_HPP

#include <keyway/cxx/base.hpp>

namespace kw::detail {

struct no_place {};

// set() makes a borrowed value of a parameter; box() puts that into a frame, or says why it cannot;
// unbox() gets the parameter out, with `place` as memory for what it points to.
template <char Letter> struct form;

#define KWI_FORM_HEAD(letter, c_type, word)                                                        \
    using type = c_type;                                                                           \
    using code = chars<letter>;                                                                    \
    using place = no_place;                                                                        \
    static kw_status unbox(const kw_frame *frame, uint32_t index, place &, type *out) noexcept     \
    {                                                                                              \
        return kw_unbox_##word(frame, index, out);                                                 \
    }

// Always boxed; also a return.
#define KWI_FORM_RETURN(word)                                                                      \
    static kw_status box(const kw_kernel *, kw_frame *frame, uint32_t index, const type &c)        \
    {                                                                                              \
        frame->args[index] = set(c);                                                               \
        return KW_OK;                                                                              \
    }                                                                                              \
    static kw_status expect(const kw_kernel *self, kw_frame *frame, uint32_t index)                \
    {                                                                                              \
        return kw_box_expect_##word(self, frame, index);                                           \
    }                                                                                              \
    static type take(kw_value *take_value) noexcept                                                \
    {                                                                                              \
        return kw_box_take_##word(take_value);                                                     \
    }

// Where a kernel writes a return, and what becomes of it.
template <class C> struct out_place {
    C value = {};

    kw_status prepare(kw_frame *, uint32_t, C **out) noexcept
    {
        *out = &value;
        return KW_OK;
    }
};

#define KWI_FORM_PLAIN(letter, c_type, word)                                                       \
    template <> struct form<letter> {                                                              \
        KWI_FORM_HEAD(letter, c_type, word)                                                        \
        static kw_value set(const type &c) noexcept                                                \
        {                                                                                          \
            return kw_value_##word(c);                                                             \
        }                                                                                          \
        KWI_FORM_RETURN(word)                                                                      \
        using out = out_place<type>;                                                               \
        static void give(const out &from, kw_value *to) noexcept                                   \
        {                                                                                          \
            *to = kw_value_##word(from.value);                                                     \
        }                                                                                          \
        static kw_status expect_given(const kw_frame *, uint32_t) noexcept                         \
        {                                                                                          \
            return KW_OK;                                                                          \
        }                                                                                          \
    };

KWI_FORM_PLAIN('t', void *, tensor)
KWI_FORM_PLAIN('i', int64_t, int)
KWI_FORM_PLAIN('d', double, float)
KWI_FORM_PLAIN('b', bool, bool)
KWI_FORM_PLAIN('e', kw_device, device)
#undef KWI_FORM_PLAIN

#define KWI_FORM_VALUE(letter, word)                                                               \
    template <> struct form<letter> {                                                              \
        KWI_FORM_HEAD(letter, kw_value, word)                                                      \
        static kw_value set(const type &c) noexcept                                                \
        {                                                                                          \
            return c;                                                                              \
        }                                                                                          \
        KWI_FORM_RETURN(word)                                                                      \
        using out = out_place<type>;                                                               \
        static void give(const out &from, kw_value *to) noexcept                                   \
        {                                                                                          \
            *to = from.value;                                                                      \
        }                                                                                          \
        static kw_status expect_given(const kw_frame *frame, uint32_t index) noexcept              \
        {                                                                                          \
            return kw_unbox_expect_##word(frame, index);                                           \
        }                                                                                          \
    };

KWI_FORM_VALUE('n', number)
KWI_FORM_VALUE('v', value)
#undef KWI_FORM_VALUE

// A complex number as an argument is a view of the parameter, which outlives the frame; as a return
// the kernel writes it where it stays.
template <> struct form<'c'> {
    KWI_FORM_HEAD('c', kw_complex, complex)
    static kw_value set(const type &c) noexcept
    {
        return kw_value_complex(&c);
    }
    KWI_FORM_RETURN(complex)

    struct out {
        static kw_status prepare(kw_frame *frame, uint32_t index, kw_complex **out) noexcept
        {
            return kw_unbox_complex_return(frame, index, out);
        }
    };

    static void give(const out &, kw_value *) noexcept
    {
    }

    static kw_status expect_given(const kw_frame *, uint32_t) noexcept
    {
        return KW_OK;
    }
};
#undef KWI_FORM_RETURN

#define KWI_FORM_ARGUMENT(letter, c_type, word)                                                    \
    KWI_FORM_HEAD(letter, c_type, word)                                                            \
    static kw_value set(const type &c) noexcept                                                    \
    {                                                                                              \
        return kw_value_##word(c);                                                                 \
    }                                                                                              \
    static kw_status box(const kw_kernel *self, kw_frame *frame, uint32_t index, const type &c)    \
    {                                                                                              \
        return kw_box_##word(self, frame, index, c);                                               \
    }

template <> struct form<'y'> {
    KWI_FORM_ARGUMENT('y', kw_symint, symint)
    using out = out_place<kw_symint>;

    static kw_status expect(const kw_kernel *self, kw_frame *frame, uint32_t index)
    {
        return kw_box_expect_symint(self, frame, index);
    }

    static kw_symint take(kw_value *take_value) noexcept
    {
        return kw_box_take_symint(take_value);
    }

    static void give(const out &from, kw_value *to) noexcept
    {
        *to = kw_value_symint(from.value);
    }

    static kw_status expect_given(const kw_frame *frame, uint32_t index) noexcept
    {
        return kw_unbox_expect_symint(frame, index);
    }
};

template <> struct form<'g'> {
    KWI_FORM_HEAD('g', void *, generator)
    static kw_value set(void *c) noexcept
    {
        return kw_value_generator(c);
    }

    static kw_status box(const kw_kernel *, kw_frame *frame, uint32_t index, void *c) noexcept
    {
        frame->args[index] = kw_value_generator(c);
        return KW_OK;
    }
};

template <> struct form<'s'> {
    KWI_FORM_ARGUMENT('s', const char *, string)
};

// Letters that '?' can stand in front of: a pointer to what the letter alone passes, NULL for None.
template <char Letter> struct optional_form;

#define KWI_FORM_OPTIONAL(letter, c_type, word)                                                    \
    template <> struct optional_form<letter> {                                                     \
        using type = const c_type *;                                                               \
        using code = chars<'?', letter>;                                                           \
        using place = c_type;                                                                      \
        static kw_value set(type c) noexcept                                                       \
        {                                                                                          \
            return c != nullptr ? form<letter>::set(*c) : kw_value_none();                         \
        }                                                                                          \
        static kw_status box(const kw_kernel *self, kw_frame *frame, uint32_t index, type c)       \
        {                                                                                          \
            return kw_box_optional_##word(self, frame, index, c);                                  \
        }                                                                                          \
        static kw_status unbox(const kw_frame *frame, uint32_t index, place &memory,               \
                               type *out) noexcept                                                 \
        {                                                                                          \
            return kw_unbox_optional_##word(frame, index, &memory, out);                           \
        }                                                                                          \
    };

#define KWI_FORM_LIST(letter, c_type, word)                                                        \
    template <> struct form<letter> {                                                              \
        KWI_FORM_ARGUMENT(letter, c_type, word)                                                    \
    };                                                                                             \
    KWI_FORM_OPTIONAL(letter, c_type, word)

KWI_FORM_OPTIONAL('i', int64_t, int)
KWI_FORM_OPTIONAL('d', double, float)
KWI_FORM_OPTIONAL('b', bool, bool)
KWI_FORM_OPTIONAL('c', kw_complex, complex)
KWI_FORM_OPTIONAL('e', kw_device, device)
KWI_FORM_OPTIONAL('y', kw_symint, symint)
KWI_FORM_LIST('T', kw_tensor_list, tensors)
KWI_FORM_LIST('I', kw_int_list, ints)
KWI_FORM_LIST('D', kw_float_list, floats)
KWI_FORM_LIST('B', kw_bool_list, bools)
KWI_FORM_LIST('Y', kw_symint_list, symints)
KWI_FORM_LIST('V', kw_value_list, values)
#undef KWI_FORM_LIST
#undef KWI_FORM_OPTIONAL
#undef KWI_FORM_ARGUMENT
#undef KWI_FORM_HEAD

template <class Form> struct optional_of;
template <char Letter> struct optional_of<form<Letter>> {
    using type = optional_form<Letter>;
};

} // namespace kw::detail

#endif // KW_CXX_FORM_HPP
