// Public names of the PrivateUse backends: what a program calls its own device.
//
// Layer:   key
// Threads: any; a name is set once, by whoever comes first.
// SPDX-License-Identifier: MIT

#include "key/private_use.h"

#include <string.h>

#include <keyway/inline/cell.h>

#include "base/text.h"
#include "key/key_name.h"

#define NAME_MAX_BYTES 32
#define KEY_NAME_BYTES 64
#define BACKENDS 3
#define KEYS 7

enum {
    STATE_FREE = 0,
    STATE_BEING_SET = 1,
    STATE_SET = 2
};

// The keys of a backend, in the order of their names.
static const struct {
    const char *prefix;
    kw_key first; // of PrivateUse1; Undefined: only PrivateUse1 has it
} forms[KEYS] = {
    {"", KW_KEY_PrivateUse1},
    {"Quantized", KW_KEY_QuantizedPrivateUse1},
    {"Sparse", KW_KEY_SparsePrivateUse1},
    {"SparseCsr", KW_KEY_SparseCsrPrivateUse1},
    {"NestedTensor", KW_KEY_NestedTensorPrivateUse1},
    {"Autograd", KW_KEY_AutogradPrivateUse1},
    {"Autocast", KW_KEY_AutocastPrivateUse1},
};

static struct {
    // guard: cell. Goes from free to set once. Texts are written before it is set.
    // [pair: backend-name] stored with release, loaded with acquire.
    kwi_u32_cell state;
    char keys[KEYS][KEY_NAME_BYTES]; // the first is the backend's own name
} names[BACKENDS];

static bool is_set(int index)
{
    return kwi_u32_load_acquire(&names[index].state) == STATE_SET; // [pair: backend-name]
}

// The key of a form for a backend; Undefined if it has none.
static kw_key form_key(int form, int index)
{
    if (forms[form].first == KW_KEY_AutocastPrivateUse1) {
        return index == 0 ? KW_KEY_AutocastPrivateUse1 : KW_KEY_Undefined;
    }
    return (kw_key)(forms[form].first + index);
}

const char *kwi_private_use_key_name(kw_key key)
{
    for (int index = 0; index < BACKENDS; index++) {
        for (int form = 0; form < KEYS; form++) {
            if (form_key(form, index) == key && key != KW_KEY_Undefined) {
                return is_set(index) ? names[index].keys[form] : NULL;
            }
        }
    }
    return NULL;
}

const char *kwi_private_use_backend_name(kw_backend backend)
{
    int index = (int)backend - (int)KW_BACKEND_PrivateUse1;
    return index >= 0 && index < BACKENDS && is_set(index) ? names[index].keys[0] : NULL;
}

static bool is_equal(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

bool kwi_private_use_find_key(const char *name, size_t length, kw_key *out_key)
{
    for (int index = 0; index < BACKENDS; index++) {
        for (int form = 0; is_set(index) && form < KEYS; form++) {
            kw_key key = form_key(form, index);
            if (key != KW_KEY_Undefined && is_equal(names[index].keys[form], name, length)) {
                *out_key = key;
                return true;
            }
        }
    }
    return false;
}

bool kwi_private_use_find_backend(const char *name, size_t length, kw_backend *out_backend)
{
    for (int index = 0; index < BACKENDS; index++) {
        if (is_set(index) && is_equal(names[index].keys[0], name, length)) {
            *out_backend = (kw_backend)((int)KW_BACKEND_PrivateUse1 + index);
            return true;
        }
    }
    return false;
}

void kwi_private_use_after_fork_child(void)
{
    for (int index = 0; index < BACKENDS; index++) {
        uint32_t being_set = STATE_BEING_SET;
        // [pair: backend-name] acquire, though nobody sets it any more.
        (void)kwi_u32_compare_exchange_acquire_relaxed(&names[index].state, &being_set, STATE_FREE);
    }
}

// Renaming ----------------------------------------------------------------------------------------

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

// Writes the name in capitals, as it stands in the names of keys.
static kw_status capitalise(const char *name, char *out_capitals, kw_error *err)
{
    size_t length = name != NULL ? strlen(name) : 0;
    bool is_identifier =
        length > 0 && length < NAME_MAX_BYTES && !(name[0] >= '0' && name[0] <= '9');
    for (size_t i = 0; i < length && is_identifier; i++) {
        char c = upper(name[i]);
        is_identifier = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out_capitals[i] = c;
    }
    if (!is_identifier) {
        return kwi_fail(err, KW_MALFORMED_NAME,
                        "a backend's name has 1 to %d letters, digits and _, and begins with no "
                        "digit",
                        NAME_MAX_BYTES - 1);
    }
    out_capitals[length] = '\0';
    return KW_OK;
}

// Whether any of the names that a backend would get belongs to a key already.
static kw_status check_free(const char *capitals, kw_error *err)
{
    for (int form = 0; form < KEYS; form++) {
        char name[KEY_NAME_BYTES];
        kwi_text text;
        kwi_text_init(&text, name, sizeof name);
        kwi_text_add(&text, "%s%s", forms[form].prefix, capitals);
        kw_key key = KW_KEY_Undefined;
        if (kwi_key_find(name, strlen(name), &key)) {
            return kwi_fail(err, KW_BACKEND_NAME_TAKEN,
                            "%s cannot be a backend's name: %s is the name of a key already",
                            capitals, name);
        }
    }
    return KW_OK;
}

static kw_status set_name(int index, const char *capitals, kw_error *err)
{
    uint32_t expected = STATE_FREE;
    // [pair: backend-name] acquire, though a free name holds nothing yet.
    if (!kwi_u32_compare_exchange_acquire_relaxed(&names[index].state, &expected,
                                                  STATE_BEING_SET)) {
        return kwi_fail(err, KW_BACKEND_NAME_TAKEN, "%s has a name already",
                        kw_backend_name((kw_backend)((int)KW_BACKEND_PrivateUse1 + index)));
    }
    for (int form = 0; form < KEYS; form++) {
        kwi_text text;
        kwi_text_init(&text, names[index].keys[form], KEY_NAME_BYTES);
        kwi_text_add(&text, "%s%s", forms[form].prefix, capitals);
    }
    kwi_u32_store_release(&names[index].state, STATE_SET); // [pair: backend-name]
    return KW_OK;
}

kw_status kw_backend_rename(kw_backend backend, const char *name, kw_error *err)
{
    int index = (int)backend - (int)KW_BACKEND_PrivateUse1;
    if (index < 0 || index >= BACKENDS) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "only PrivateUse1 to PrivateUse3 take a name, "
                        "not %s",
                        kw_backend_name(backend));
    }
    char capitals[NAME_MAX_BYTES];
    kw_status status = capitalise(name, capitals, err);
    if (status != KW_OK) {
        return status;
    }
    if (is_set(index) && strcmp(names[index].keys[0], capitals) == 0) {
        return KW_OK;
    }
    status = check_free(capitals, err);
    return status == KW_OK ? set_name(index, capitals, err) : status;
}

kw_status kw_backend_claim(const char *name, kw_backend *out_backend, kw_error *err)
{
    char capitals[NAME_MAX_BYTES];
    kw_status status = capitalise(name, capitals, err);
    if (status != KW_OK || out_backend == NULL) {
        return status != KW_OK ? status
                               : kwi_fail(err, KW_INVALID_ARGUMENT, "a claim needs a place");
    }
    if (kwi_private_use_find_backend(capitals, strlen(capitals), out_backend)) {
        return KW_OK;
    }
    status = check_free(capitals, err);
    for (int index = 0; status == KW_OK && index < BACKENDS; index++) {
        if (set_name(index, capitals, NULL) == KW_OK) {
            *out_backend = (kw_backend)((int)KW_BACKEND_PrivateUse1 + index);
            return KW_OK;
        }
    }
    if (status != KW_OK) {
        return status;
    }
    return kwi_fail(err, KW_NO_BACKEND_LEFT,
                    "no backend is left for %s: PrivateUse1 is %s, PrivateUse2 is %s, PrivateUse3 "
                    "is %s",
                    capitals, kw_backend_name(KW_BACKEND_PrivateUse1),
                    kw_backend_name(KW_BACKEND_PrivateUse2),
                    kw_backend_name(KW_BACKEND_PrivateUse3));
}
