// Shared objects as files: what can be told of one before any of its code runs.
//
// Layer:   plugin
// Threads: any; a view belongs to one thread.
// SPDX-License-Identifier: MIT

#include "plugin/elf.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/text.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OWN_MACHINE EM_S390
#else
#define OWN_MACHINE EM_NONE // not checked; the loader does it
#endif

#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OWN_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

static bool is_inside(const kwi_elf *elf, size_t offset, size_t length)
{
    return offset <= elf->size && length <= elf->size - offset;
}

// Copies, since a file need not align what it holds.
static bool read_at(const kwi_elf *elf, size_t offset, void *out, size_t length)
{
    if (!is_inside(elf, offset, length)) {
        return false;
    }
    memcpy(out, elf->bytes + offset, length);
    return true;
}

static bool read_segment(const kwi_elf *elf, unsigned index, ElfW(Phdr) * out)
{
    return read_at(elf, elf->segment_offset + index * sizeof *out, out, sizeof *out);
}

// Where an address of the loaded object lies in the file. 0 stands for "not given".
static bool find_offset(const kwi_elf *elf, uint64_t address, size_t *out_offset)
{
    ElfW(Phdr) segment;
    for (unsigned i = 0; i < elf->segment_count && read_segment(elf, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && address != 0 && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *out_offset = (size_t)(segment.p_offset + (address - segment.p_vaddr));
            return true;
        }
    }
    return false;
}

static kw_status read_header(kwi_elf *elf, kw_error *err)
{
    ElfW(Ehdr) header;
    if (!is_inside(elf, 0, SELFMAG) || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0) {
        return kwi_fail(err, KW_NOT_A_PLUGIN, "it is not an ELF file");
    }
    if (!read_at(elf, 0, &header, sizeof header)) {
        return kwi_fail(err, KW_NOT_A_PLUGIN, "it is cut short: %zu bytes hold no ELF header",
                        elf->size);
    }
    if (header.e_ident[EI_CLASS] != OWN_CLASS || header.e_ident[EI_DATA] != OWN_DATA ||
        (OWN_MACHINE != EM_NONE && header.e_machine != OWN_MACHINE)) {
        return kwi_fail(err, KW_NOT_A_PLUGIN,
                        "it is for another machine (ELF machine %u, class %u; here %u, %u)",
                        header.e_machine, header.e_ident[EI_CLASS], OWN_MACHINE, OWN_CLASS);
    }
    if (header.e_type != ET_DYN) {
        return kwi_fail(err, KW_NOT_A_PLUGIN, "it is not a shared object (ELF type %u)",
                        header.e_type);
    }
    if (header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phoff > elf->size ||
        !is_inside(elf, header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr)))) {
        return kwi_fail(err, KW_NOT_A_PLUGIN, "it is cut short: its segments lie outside");
    }
    elf->segment_offset = header.e_phoff;
    elf->segment_count = header.e_phnum;
    return KW_OK;
}

static size_t padded(size_t length)
{
    return (length + 3) & ~(size_t)3;
}

static void read_build_id(kwi_elf *elf, size_t offset, size_t bytes)
{
    static const char owner[] = "GNU";
    ElfW(Nhdr) note;
    size_t end = offset + bytes;
    while (offset + sizeof note <= end && read_at(elf, offset, &note, sizeof note)) {
        size_t name = offset + sizeof note;
        size_t text = name + padded(note.n_namesz);
        if (text + note.n_descsz > end || text < name) {
            return;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner &&
            note.n_descsz <= KWI_BUILD_ID_MAX &&
            memcmp(elf->bytes + name, owner, sizeof owner) == 0) {
            elf->build_id_length = note.n_descsz;
            memcpy(elf->build_id, elf->bytes + text, note.n_descsz);
            return;
        }
        offset = text + padded(note.n_descsz);
    }
}

static kw_status read_segments(kwi_elf *elf, kw_error *err)
{
    ElfW(Phdr) segment;
    for (unsigned i = 0; i < elf->segment_count && read_segment(elf, i, &segment); i++) {
        if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC &&
            segment.p_type != PT_NOTE) {
            continue;
        }
        if (!is_inside(elf, segment.p_offset, segment.p_filesz)) {
            return kwi_fail(err, KW_NOT_A_PLUGIN,
                            "it is cut short: segment %u has %zu bytes from %zu on, the file %zu",
                            i, (size_t)segment.p_filesz, (size_t)segment.p_offset, elf->size);
        }
        if (segment.p_type == PT_DYNAMIC) {
            elf->dynamic_offset = segment.p_offset;
            elf->dynamic_bytes = segment.p_filesz;
        } else if (segment.p_type == PT_NOTE) {
            read_build_id(elf, segment.p_offset, segment.p_filesz);
        }
    }
    return elf->dynamic_bytes > 0 ? KW_OK
                                  : kwi_fail(err, KW_NOT_A_PLUGIN, "it has no dynamic section");
}

// The number of dynamic symbols is not written anywhere but in a hash table's shape.

static bool count_by_hash(kwi_elf *elf, size_t offset)
{
    uint32_t head[2]; // buckets, chains; as many chains as symbols
    if (!read_at(elf, offset, head, sizeof head)) {
        return false;
    }
    elf->symbol_count = head[1];
    return true;
}

// A GNU hash table: four words, a filter of words as wide as addresses, buckets that name the first
// symbol of a chain, and one word for each symbol whose lowest bit ends a chain.
static bool count_by_gnu_hash(kwi_elf *elf, size_t offset)
{
    uint32_t head[4]; // buckets, first symbol, filter words, shift
    if (!read_at(elf, offset, head, sizeof head)) {
        return false;
    }
    size_t buckets = offset + sizeof head + head[2] * sizeof(ElfW(Addr));
    size_t chains = buckets + head[0] * sizeof(uint32_t);
    uint32_t last = 0;
    for (uint32_t i = 0; i < head[0]; i++) {
        uint32_t first;
        if (!read_at(elf, buckets + i * sizeof first, &first, sizeof first)) {
            return false;
        }
        last = first > last ? first : last;
    }
    if (last < head[1]) {
        elf->symbol_count = head[1]; // it defines nothing
        return true;
    }
    uint32_t word = 0;
    for (; (word & 1) == 0; last++) {
        if (!read_at(elf, chains + (size_t)(last - head[1]) * sizeof word, &word, sizeof word)) {
            return false;
        }
    }
    elf->symbol_count = last;
    return true;
}

static kw_status read_dynamic(kwi_elf *elf, kw_error *err)
{
    uint64_t symbols = 0;
    uint64_t strings = 0;
    uint64_t hash = 0;
    uint64_t gnu_hash = 0;
    ElfW(Dyn) entry;
    for (size_t at = 0; at + sizeof entry <= elf->dynamic_bytes; at += sizeof entry) {
        (void)read_at(elf, elf->dynamic_offset + at, &entry, sizeof entry); // it lies inside
        switch (entry.d_tag) {
        case DT_SYMTAB:
            symbols = entry.d_un.d_ptr;
            break;
        case DT_STRTAB:
            strings = entry.d_un.d_ptr;
            break;
        case DT_STRSZ:
            elf->string_bytes = entry.d_un.d_val;
            break;
        case DT_HASH:
            hash = entry.d_un.d_ptr;
            break;
        case DT_GNU_HASH:
            gnu_hash = entry.d_un.d_ptr;
            break;
        case DT_FLAGS_1:
            elf->flags_1 = entry.d_un.d_val;
            break;
        default:
            break;
        }
    }
    size_t at = 0;
    bool is_counted = (find_offset(elf, gnu_hash, &at) && count_by_gnu_hash(elf, at)) ||
                      (find_offset(elf, hash, &at) && count_by_hash(elf, at));
    bool is_whole = is_counted && find_offset(elf, symbols, &elf->symbol_offset) &&
                    find_offset(elf, strings, &elf->string_offset) &&
                    is_inside(elf, elf->string_offset, elf->string_bytes);
    return is_whole ? KW_OK : kwi_fail(err, KW_NOT_A_PLUGIN, "it has no table of dynamic symbols");
}

kw_status kwi_elf_open(kwi_elf *elf, const void *bytes, size_t size, kw_error *err)
{
    *elf = (kwi_elf){.bytes = bytes, .size = size};
    kw_status status = read_header(elf, err);
    status = status == KW_OK ? read_segments(elf, err) : status;
    return status == KW_OK ? read_dynamic(elf, err) : status;
}

bool kwi_elf_symbol_at(const kwi_elf *elf, size_t index, kwi_elf_symbol *out_symbol)
{
    ElfW(Sym) symbol;
    if (!read_at(elf, elf->symbol_offset + index * sizeof symbol, &symbol, sizeof symbol) ||
        symbol.st_name >= elf->string_bytes) {
        return false;
    }
    const char *name = (const char *)elf->bytes + elf->string_offset + symbol.st_name;
    if (memchr(name, '\0', elf->string_bytes - symbol.st_name) == NULL) {
        return false;
    }
    unsigned bind = ELF64_ST_BIND(symbol.st_info); // the same in both classes
    *out_symbol = (kwi_elf_symbol){
        .name = name,
        .bytes = symbol.st_size,
        .is_defined = symbol.st_shndx != SHN_UNDEF,
        .is_object = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT,
        .is_unique = bind == STB_GNU_UNIQUE,
        .is_weak = bind == STB_WEAK,
    };
    return true;
}
