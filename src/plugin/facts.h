// Facts: what the symbols of a shared object say about loading and unloading it.
//
// Layer:   plugin
// Threads: any; immutable once read.
// SPDX-License-Identifier: MIT
//
// Note [What symbols tell]
//
// Unloading is where plugins crash: the destructor of a thread key, or a thread of the plugin's
// own, runs code that is gone. Neither can be seen from outside when the plugin is stopped. But a
// plugin that makes thread keys and has no reference to the function that deletes them cannot have
// deleted any, and one that starts threads without a reference to a join has not waited for them.
// Such a plugin is stopped and stays mapped. A plugin that does refer to both is trusted to use
// both; its stop can say that it is not done.
//
// What the loader will keep by itself is told from the file too: DF_1_NODELETE, and symbols that
// are unique in the process, which pin the object that defined them first. A plugin that refers to
// the registration of thread_local destructors may be kept until its threads end.

#ifndef KWI_PLUGIN_FACTS_H
#define KWI_PLUGIN_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/plugin.h>

#include "base/vector.h"
#include "plugin/elf.h"

#define KWI_SYMBOL_NAME_MAX 96

typedef struct kwi_plugin_facts {
    uint32_t retention; // bits that can be told beforehand
    bool may_have_thread_locals;
    bool has_static_blocks;    // its constructors push records on the list of kw_startup()
    uint32_t wanted_layout;    // the layout whose stamp it refers to; 0: none
    uint64_t descriptor_bytes; // of the symbol kw_plugin_main; 0: there is none
    kwi_words unique;          // hashes of its unique symbols' names, sorted; std's are left out
    char unique_name[KWI_SYMBOL_NAME_MAX]; // of one of them, or ""
} kwi_plugin_facts;

// KW_NOT_A_PLUGIN, KW_NO_MEMORY.
kw_status kwi_plugin_facts_read(kwi_plugin_facts *facts, const kwi_elf *elf, kw_error *err);
void kwi_plugin_facts_fini(kwi_plugin_facts *facts);

// Whether both define a unique symbol of the same name.
bool kwi_plugin_facts_overlap(const kwi_plugin_facts *a, const kwi_plugin_facts *b);

// Writes the reasons as one sentence; "" for none.
void kwi_plugin_retention_text(uint32_t retention, const char *unique_name, char *buffer,
                               size_t size);

#endif // KWI_PLUGIN_FACTS_H
