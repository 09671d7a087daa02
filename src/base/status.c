// Statuses: their names and sentences, from the one list in the header.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include <keyway/status.h>

const char *kw_status_name(kw_status status)
{
    switch (status) {
#define STATUS_NAME(name, number, sentence)                                                        \
    case KW_##name:                                                                                \
        return "KW_" #name;
        KW_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    default:
        return status >= KW_STATUS_USER ? "KW_STATUS_USER" : "KW_STATUS_UNKNOWN";
    }
}

const char *kw_status_message(kw_status status)
{
    switch (status) {
#define STATUS_MESSAGE(name, number, sentence)                                                     \
    case KW_##name:                                                                                \
        return sentence;
        KW_STATUS_LIST(STATUS_MESSAGE)
#undef STATUS_MESSAGE
    default:
        return status >= KW_STATUS_USER ? "a kernel's own status" : "no status has this number";
    }
}
