// Facts: what the symbols of a shared object say about loading and unloading it.
//
// Layer:   plugin
// Threads: any.
// SPDX-License-Identifier: MIT

#include "plugin/facts.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plugin/hash.h"

#define DESCRIPTOR_NAME "kw_plugin_main"
#define STAMP_PREFIX "kwi_layout_"

// What a reference to a symbol shows.
typedef enum trait {
    MAKES_KEYS = 1 << 0,
    DELETES_KEYS = 1 << 1,
    STARTS_THREADS = 1 << 2,
    JOINS_THREADS = 1 << 3,
    HAS_THREAD_LOCALS = 1 << 4,
    PUSHES_BLOCKS = 1 << 5
} trait;

static const struct {
    const char *name;
    unsigned traits;
} references[] = {
    {"pthread_key_create", MAKES_KEYS},
    {"tss_create", MAKES_KEYS},
    {"pthread_key_delete", DELETES_KEYS},
    {"tss_delete", DELETES_KEYS},
    {"pthread_create", STARTS_THREADS},
    {"thrd_create", STARTS_THREADS},
    {"pthread_join", JOINS_THREADS},
    {"pthread_tryjoin_np", JOINS_THREADS},
    {"pthread_timedjoin_np", JOINS_THREADS},
    {"pthread_clockjoin_np", JOINS_THREADS},
    {"thrd_join", JOINS_THREADS},
    {"_ZNSt6thread4joinEv", JOINS_THREADS},
    {"__cxa_thread_atexit", HAS_THREAD_LOCALS},
    {"__cxa_thread_atexit_impl", HAS_THREAD_LOCALS},
    {"kw_startup_add", PUSHES_BLOCKS},
};

// std::thread's start, with the compiler's arguments behind it.
#define CXX_THREAD_PREFIX "_ZNSt6thread15_M_start_thread"

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static unsigned traits_of(const char *name)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        if (strcmp(references[i].name, name) == 0) {
            return references[i].traits;
        }
    }
    return begins_with(name, CXX_THREAD_PREFIX) ? STARTS_THREADS : 0;
}

// Symbols of the standard library's own templates are the same in every plugin that one compiler
// made: sharing them is what they are for. By the mangled form: _Z, GV of a guard, Z of a local,
// N of a nested name, K of a const member, then St or __gnu_cxx.
static bool is_standard(const char *name)
{
    static const char *const parts[] = {"_Z", "GV", "Z", "N", "K"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        name += begins_with(name, parts[i]) ? strlen(parts[i]) : 0;
    }
    return begins_with(name, "St") || begins_with(name, "Ss") || begins_with(name, "9__gnu_cxx");
}

static bool add_unique(kwi_plugin_facts *facts, const char *name)
{
    facts->retention |= KW_RETAINED_UNIQUE_SYMBOLS;
    if (is_standard(name)) {
        return true;
    }
    if (facts->unique_name[0] == '\0') {
        (void)snprintf(facts->unique_name, sizeof facts->unique_name, "%s", name);
    }
    return kwi_words_add(&facts->unique, kwi_hash_text(name));
}

// False: no memory.
static bool read_symbol(kwi_plugin_facts *facts, const kwi_elf_symbol *symbol, unsigned *traits)
{
    if (symbol->is_defined) {
        if (strcmp(symbol->name, DESCRIPTOR_NAME) == 0 && symbol->is_object) {
            facts->descriptor_bytes = symbol->bytes;
        }
        return !symbol->is_unique || add_unique(facts, symbol->name);
    }
    if (begins_with(symbol->name, STAMP_PREFIX)) {
        facts->wanted_layout =
            (uint32_t)strtoul(symbol->name + strlen(STAMP_PREFIX), NULL, 10); // ours are numbers
    }
    *traits |= symbol->is_weak ? 0 : traits_of(symbol->name);
    return true;
}

static void conclude(kwi_plugin_facts *facts, const kwi_elf *elf, unsigned traits)
{
    if ((elf->flags_1 & DF_1_NODELETE) != 0) {
        facts->retention |= KW_RETAINED_NODELETE;
    }
    if ((traits & (MAKES_KEYS | DELETES_KEYS)) == MAKES_KEYS) {
        facts->retention |= KW_RETAINED_THREAD_KEYS;
    }
    if ((traits & (STARTS_THREADS | JOINS_THREADS)) == STARTS_THREADS) {
        facts->retention |= KW_RETAINED_OWN_THREADS;
    }
    facts->may_have_thread_locals = (traits & HAS_THREAD_LOCALS) != 0;
    facts->has_static_blocks = (traits & PUSHES_BLOCKS) != 0;
    kwi_words_sort(&facts->unique);
}

kw_status kwi_plugin_facts_read(kwi_plugin_facts *facts, const kwi_elf *elf, kw_error *err)
{
    unsigned traits = 0;
    for (size_t i = 1; i < elf->symbol_count; i++) { // the first is none
        kwi_elf_symbol symbol;
        if (!kwi_elf_symbol_at(elf, i, &symbol)) {
            return kwi_fail(err, KW_NOT_A_PLUGIN, "its dynamic symbol %zu lies outside", i);
        }
        if (!read_symbol(facts, &symbol, &traits)) {
            return kwi_fail_memory(err);
        }
    }
    conclude(facts, elf, traits);
    return KW_OK;
}

void kwi_plugin_facts_fini(kwi_plugin_facts *facts)
{
    kwi_words_fini(&facts->unique);
}

bool kwi_plugin_facts_overlap(const kwi_plugin_facts *a, const kwi_plugin_facts *b)
{
    for (size_t i = 0; i < a->unique.count; i++) {
        if (kwi_words_has(&b->unique, a->unique.items[i])) {
            return true;
        }
    }
    return false;
}

void kwi_plugin_retention_text(uint32_t retention, const char *unique_name, char *buffer,
                               size_t size)
{
    static const struct {
        uint32_t bit;
        const char *text;
    } reasons[] = {
        {KW_RETAINED_BY_OPTION, "it was loaded with keep_mapped"},
        {KW_RETAINED_NODELETE, "it is linked with -z nodelete"},
        {KW_RETAINED_UNIQUE_SYMBOLS,
         "it defines symbols that are unique in the process; compile it with -fno-gnu-unique"},
        {KW_RETAINED_THREAD_LOCALS,
         "it may have thread_local objects in threads that have not ended"},
        {KW_RETAINED_THREAD_KEYS, "it makes thread keys and never deletes any"},
        {KW_RETAINED_OWN_THREADS, "it starts threads and never joins any"},
        {KW_RETAINED_EXCEPTION, "an exception left its start or stop"},
        {KW_RETAINED_BY_OTHER_OBJECT, "another object or handle in the process needs it"},
        {KW_RETAINED_STATIC, "it is compiled in"},
        {KW_RETAINED_BY_STOP, "it was not wanted, and its stop said that it is not done"},
    };
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if ((retention & reasons[i].bit) == 0) {
            continue;
        }
        kwi_text_add(&text, "%s%s", text.length > 0 ? "; " : "", reasons[i].text);
        if (reasons[i].bit == KW_RETAINED_UNIQUE_SYMBOLS && unique_name[0] != '\0') {
            kwi_text_add(&text, " (%s)", unique_name);
        }
    }
}
