// Copies: whether this copy of the library is the one that serves the process.
//
// Layer:   base
// Threads: any. The loader's lock is held while its list is walked.
// SPDX-License-Identifier: MIT

#include "base/copy.h"

#include <link.h>
#include <string.h>

#include <keyway/inline/cell.h>

#include "base/text.h"

enum {
    STATE_IDLE = 0,
    STATE_ASKING = 1, // taken for serving by other copies, not yet by itself
    STATE_SERVING = 2
};

#define NOTE_NAME "Keyway"
#define NOTE_TYPE 1
#define PATH_BYTES 512

// What other copies, of other versions too, read: new members come at the end.
typedef struct copy_record {
    // guard: immutable.
    uint32_t struct_size;

    // guard: cell. Relaxed: set while the loader's lock is held, or by the copy itself.
    kwi_u32_cell state;

    // guard: immutable.
    const char *version;
} copy_record;

extern copy_record kwi_copy_record;
__attribute__((used, visibility("hidden"))) copy_record kwi_copy_record = {
    .struct_size = sizeof(copy_record),
    .version = KWI_VERSION,
};

// The note: its description is the distance from itself to the record.
__asm__(".pushsection .note.keyway, \"a\", %note\n"
        "    .balign 4\n"
        "    .long 7, 8, 1\n" // bytes of name and description, type
        "    .asciz \"Keyway\"\n"
        "    .balign 4\n"
        "1:  .quad kwi_copy_record - 1b\n"
        "    .popsection\n");

typedef struct note_header {
    uint32_t name_bytes;
    uint32_t description_bytes;
    uint32_t type;
} note_header;

typedef struct search {
    char path[PATH_BYTES]; // of an object with another copy that serves
    char version[32];
    bool found;
} search;

static size_t padded(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

// The record of the copy in a segment of notes, or NULL.
static const copy_record *record_in(const unsigned char *notes, size_t bytes, size_t alignment)
{
    const size_t align = alignment == 8 ? 8 : 4;
    size_t at = 0;
    while (bytes - at >= sizeof(note_header)) {
        note_header header;
        memcpy(&header, notes + at, sizeof header);
        size_t name_at = at + sizeof header;
        size_t description_at = name_at + padded(header.name_bytes, align);
        at = description_at + padded(header.description_bytes, align);
        if (at > bytes) {
            return NULL;
        }
        int64_t distance;
        if (header.type == NOTE_TYPE && header.name_bytes == sizeof NOTE_NAME &&
            header.description_bytes == sizeof distance &&
            memcmp(notes + name_at, NOTE_NAME, sizeof NOTE_NAME) == 0) {
            memcpy(&distance, notes + description_at, sizeof distance);
            return (const copy_record *)(const void *)(notes + description_at + distance);
        }
    }
    return NULL;
}

static const copy_record *record_of(const struct dl_phdr_info *object)
{
    const copy_record *record = NULL;
    for (unsigned i = 0; i < object->dlpi_phnum && record == NULL; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE) {
            const unsigned char *notes =
                (const unsigned char *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr);
            record = record_in(notes, segment->p_memsz, segment->p_align);
        }
    }
    return record;
}

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    search *wanted = context;
    kwi_u32_store_relaxed(&kwi_copy_record.state, STATE_ASKING); // relaxed: under the loader's lock
    const copy_record *record = record_of(object);
    if (record == NULL || record == &kwi_copy_record ||
        kwi_u32_load_relaxed(&record->state) == STATE_IDLE) { // relaxed: under the loader's lock
        return 0;
    }
    wanted->found = true;
    kwi_text text;
    kwi_text_init(&text, wanted->path, sizeof wanted->path);
    kwi_text_add(&text, "%s", object->dlpi_name[0] != '\0' ? object->dlpi_name : "the program");
    kwi_text_init(&text, wanted->version, sizeof wanted->version);
    kwi_text_add(&text, "%s", record->version);
    kwi_u32_store_relaxed(&kwi_copy_record.state, STATE_IDLE); // relaxed: under the loader's lock
    return 1;
}

bool kwi_copy_is_serving(void)
{
    // Relaxed: it is never taken back.
    return kwi_u32_load_relaxed(&kwi_copy_record.state) == STATE_SERVING;
}

kw_status kwi_copy_serve(kw_error *err)
{
    if (kwi_copy_is_serving()) {
        return KW_OK;
    }
    search wanted = {.found = false};
    (void)dl_iterate_phdr(look, &wanted);
    if (wanted.found) {
        return kwi_fail(err, KW_ANOTHER_COPY,
                        "another copy of the library, version %s in %s, serves this process; load "
                        "one libkeyway, from one path",
                        wanted.version, wanted.path);
    }
    kwi_u32_store_relaxed(&kwi_copy_record.state,
                          STATE_SERVING); // relaxed: nothing is ordered by it
    return KW_OK;
}
