// Shared objects as files: what can be told of one before any of its code runs.
//
// Layer:   plugin
// Threads: any; a view belongs to one thread.
// SPDX-License-Identifier: MIT
//
// E1  Nothing outside `bytes` is read, whatever the file says.

#ifndef KWI_PLUGIN_ELF_H
#define KWI_PLUGIN_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

#define KWI_BUILD_ID_MAX 32

// A view of a file in memory, which must outlive it.
typedef struct kwi_elf {
    const unsigned char *bytes;
    size_t size;
    size_t segment_offset; // of the table of segments
    unsigned segment_count;
    size_t dynamic_offset;
    size_t dynamic_bytes;
    size_t symbol_offset;
    size_t symbol_count;
    size_t string_offset;
    size_t string_bytes;
    uint64_t flags_1; // DT_FLAGS_1
    unsigned build_id_length;
    unsigned char build_id[KWI_BUILD_ID_MAX];
} kwi_elf;

// A dynamic symbol. `name` lies in the file.
typedef struct kwi_elf_symbol {
    const char *name;
    uint64_t bytes;
    bool is_defined;
    bool is_object; // data, not code
    bool is_unique; // one in the process, whoever defines it
    bool is_weak;
} kwi_elf_symbol;

// KW_NOT_A_PLUGIN if it is no complete shared object of this machine.
kw_status kwi_elf_open(kwi_elf *elf, const void *bytes, size_t size, kw_error *err);

// False if the name does not lie in the file.
bool kwi_elf_symbol_at(const kwi_elf *elf, size_t index, kwi_elf_symbol *out_symbol);

#endif // KWI_PLUGIN_ELF_H
