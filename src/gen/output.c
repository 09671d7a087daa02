// Output files: written as a whole or not at all.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell(const char *verb, const char *path)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
    (void)fprintf(stderr, "keyway: cannot %s %s: %s\n", verb, path, strerror(errno));
}

static bool is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool gen_make_folder(const char *path)
{
    gen_arena arena = {.chunks = NULL};
    char *part = gen_copy(&arena, path, strlen(path));
    bool is_made = true;
    for (char *end = part + 1; is_made && end[-1] != '\0'; end++) {
        char byte = *end;
        if (byte == '/' || byte == '\0') {
            *end = '\0';
            is_made = is_folder(part) || mkdir(part, 0777) == 0 || is_folder(part);
            if (!is_made) {
                tell("make the folder", part);
            }
            *end = byte;
        }
    }
    gen_arena_fini(&arena);
    return is_made;
}

static bool is_current(const gen_output *output)
{
    FILE *file = fopen(output->path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t at = 0;
    bool is_equal = true;
    char buffer[4096];
    for (size_t length; is_equal && (length = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        is_equal = length <= output->text.length - at &&
                   memcmp(buffer, output->text.data + at, length) == 0;
        at += length;
    }
    is_equal = is_equal && !ferror(file) && at == output->text.length;
    (void)fclose(file);
    return is_equal;
}

static bool write_file(const char *path, const gen_text *text)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file != NULL && fwrite(text->data, 1, text->length, file) == text->length;
    is_written = file != NULL && fclose(file) == 0 && is_written;
    if (!is_written) {
        tell("write", path);
    }
    return is_written;
}

bool gen_write(const gen_output *outputs, size_t count)
{
    gen_arena arena = {.chunks = NULL};
    const char **temporary = gen_allocate(&arena, count * sizeof *temporary);
    bool is_written = true;
    for (size_t i = 0; is_written && i < count; i++) {
        if (!is_current(&outputs[i])) {
            temporary[i] = gen_format(&arena, "%s.%ld", outputs[i].path, (long)getpid());
            is_written = write_file(temporary[i], &outputs[i].text);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (temporary[i] != NULL && is_written && rename(temporary[i], outputs[i].path) != 0) {
            tell("write", outputs[i].path);
            is_written = false;
        }
        if (temporary[i] != NULL && !is_written) {
            (void)unlink(temporary[i]);
        }
    }
    gen_arena_fini(&arena);
    return is_written;
}
