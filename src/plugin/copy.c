// Private copies: what is loaded in place of the administrator's file. See Note [Private copies].
//
// Layer:   plugin
// Threads: a copy is filled by one thread.
// SPDX-License-Identifier: MIT

#include "plugin/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "plugin/hash.h"

#define CHUNK_BYTES 16384

// How often a file that changes while it is read is read again.
#define TRIES 4

// Linux 6.3; older headers lack it and older systems refuse it.
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static kw_status fail_errno(kw_error *err, const char *path, const char *what)
{
    char text[128];
    // GNU's strerror_r returns the text, which need not be in the buffer.
    const char *why = strerror_r(errno, text, sizeof text);
    return kwi_fail(err, KW_FILE_NOT_READABLE, "%s %s: %s", path, what, why);
}

static kw_status open_source(const char *path, int *out_fd, struct stat *out_stat, kw_error *err)
{
    // Not blocking, since the path may lead to a pipe.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return fail_errno(err, path, "cannot be opened");
    }
    kw_status status = KW_OK;
    if (fstat(fd, out_stat) != 0) {
        status = fail_errno(err, path, "cannot be looked at");
    } else if (!S_ISREG(out_stat->st_mode)) {
        status = kwi_fail(err, KW_NOT_A_PLUGIN, "%s is no plugin: it is not a regular file%s", path,
                          S_ISDIR(out_stat->st_mode) ? ", but a folder" : "");
    }
    if (status != KW_OK) {
        (void)close(fd);
        return status;
    }
    *out_fd = fd;
    return KW_OK;
}

static int open_memory(void)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("keyway-plugin", flags | MFD_EXEC);
    return fd < 0 && errno == EINVAL ? memfd_create("keyway-plugin", flags) : fd;
}

// A fresh file in the folder; its name goes to `copy->file`.
static int open_in_folder(kwi_plugin_copy *copy, const char *folder)
{
    char name[4096];
    int length = snprintf(name, sizeof name, "%s/keyway-%ld-XXXXXX", folder, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        copy->file = kwi_copy_string(name);
        if (copy->file == NULL) {
            (void)unlink(name);
            (void)close(fd);
            errno = ENOMEM;
            return -1;
        }
    }
    return fd;
}

static kw_status open_target(kwi_plugin_copy *copy, const char *folder, kw_error *err)
{
    copy->fd = folder != NULL ? open_in_folder(copy, folder) : open_memory();
    if (copy->fd >= 0) {
        return KW_OK;
    }
    if (errno == ENOMEM) {
        return kwi_fail_memory(err);
    }
    return folder != NULL
               ? fail_errno(err, folder, "cannot take a private copy")
               : fail_errno(err, copy->path, "cannot be copied to memory (name a copy_folder)");
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

// Copies the whole of `source` and hashes it on the way.
static kw_status fill(kwi_plugin_copy *copy, int source, kw_error *err)
{
    char chunk[CHUNK_BYTES];
    copy->content = KWI_HASH_BEGIN;
    copy->bytes = 0;
    if (ftruncate(copy->fd, 0) != 0 || lseek(copy->fd, 0, SEEK_SET) != 0) {
        return fail_errno(err, copy->path, "cannot be copied");
    }
    for (;;) {
        ssize_t length = pread(source, chunk, sizeof chunk, (off_t)copy->bytes);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length < 0) {
            return fail_errno(err, copy->path, "cannot be read");
        }
        if (length == 0) {
            return KW_OK;
        }
        if (!write_all(copy->fd, chunk, (size_t)length)) {
            return fail_errno(err, copy->path, "cannot be copied");
        }
        copy->content = kwi_hash_more(copy->content, chunk, (size_t)length);
        copy->bytes += (uint64_t)length;
    }
}

static bool is_unchanged(const struct stat *before, const struct stat *after)
{
    return before->st_size == after->st_size && before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
           before->st_mtim.tv_nsec == after->st_mtim.tv_nsec &&
           before->st_ctim.tv_sec == after->st_ctim.tv_sec &&
           before->st_ctim.tv_nsec == after->st_ctim.tv_nsec;
}

// Fills the copy with one state of the file.
static kw_status fill_steadily(kwi_plugin_copy *copy, int source, struct stat *before,
                               kw_error *err)
{
    for (unsigned i = 0; i < TRIES; i++) {
        kw_status status = fill(copy, source, err);
        if (status != KW_OK) {
            return status;
        }
        struct stat after;
        if (fstat(source, &after) != 0) {
            return fail_errno(err, copy->path, "cannot be looked at");
        }
        if (is_unchanged(before, &after)) {
            return KW_OK;
        }
        *before = after;
    }
    return kwi_fail(err, KW_FILE_NOT_READABLE, "%s changes while it is read", copy->path);
}

// From here on nobody changes it, this process included.
static void seal(const kwi_plugin_copy *copy)
{
    if (copy->file != NULL) {
        (void)fchmod(copy->fd, S_IRUSR | S_IXUSR);
    } else {
        (void)fcntl(copy->fd, F_ADD_SEALS,
                    F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
}

static kwi_plugin_copy *make(const char *path)
{
    kwi_plugin_copy *copy = kwi_allocate(sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    copy->fd = -1;
    copy->reference_count = 1;
    copy->path = kwi_copy_string(path);
    if (copy->path == NULL) {
        kwi_plugin_copy_destroy(copy);
        return NULL;
    }
    return copy;
}

kw_status kwi_plugin_copy_create(const char *path, const char *folder, kwi_plugin_copy **out_copy,
                                 kw_error *err)
{
    kwi_plugin_copy *copy = make(path);
    if (copy == NULL) {
        return kwi_fail_memory(err);
    }
    int source = -1;
    struct stat before = {0};
    kw_status status = open_source(path, &source, &before, err);
    status = status == KW_OK ? open_target(copy, folder, err) : status;
    status = status == KW_OK ? fill_steadily(copy, source, &before, err) : status;
    if (source >= 0) {
        (void)close(source);
    }
    if (status != KW_OK) {
        kwi_plugin_copy_destroy(copy);
        return status;
    }
    copy->device = before.st_dev;
    copy->inode = before.st_ino;
    seal(copy);
    *out_copy = copy;
    return KW_OK;
}

kw_status kwi_plugin_copy_again(const kwi_plugin_copy *copy, const char *folder,
                                kwi_plugin_copy **out_copy, kw_error *err)
{
    kwi_plugin_copy *again = make(copy->path);
    if (again == NULL) {
        return kwi_fail_memory(err);
    }
    kw_status status = open_target(again, folder, err);
    status = status == KW_OK ? fill(again, copy->fd, err) : status;
    if (status != KW_OK) {
        kwi_plugin_copy_destroy(again);
        return status;
    }
    again->device = copy->device;
    again->inode = copy->inode;
    seal(again);
    *out_copy = again;
    return KW_OK;
}

void kwi_plugin_copy_close(kwi_plugin_copy *copy)
{
    if (copy->fd >= 0) {
        (void)close(copy->fd);
        copy->fd = -1;
    }
}

void kwi_plugin_copy_destroy(kwi_plugin_copy *copy)
{
    if (copy != NULL) {
        if (copy->file != NULL) {
            (void)unlink(copy->file);
        }
        kwi_plugin_copy_close(copy);
        kwi_free_string(copy->file);
        kwi_free_string(copy->path);
        kwi_free(copy, sizeof *copy);
    }
}

static kw_status read_all(const kwi_plugin_copy *copy, void *bytes, kw_error *err)
{
    size_t done = 0;
    while (done < copy->bytes) {
        ssize_t length = pread(copy->fd, (char *)bytes + done, copy->bytes - done, (off_t)done);
        if (length == 0) {
            return kwi_fail(err, KW_FILE_NOT_READABLE, "its copy has become shorter");
        }
        if (length < 0 && errno != EINTR) {
            return fail_errno(err, copy->path, "cannot be read again");
        }
        done += length > 0 ? (size_t)length : 0;
    }
    return KW_OK;
}

kw_status kwi_plugin_copy_read(kwi_plugin_copy *copy, kwi_plugin_facts *facts, kw_error *err)
{
    if (copy->bytes == 0) {
        return kwi_fail(err, KW_NOT_A_PLUGIN, "it is empty");
    }
    // Not mapped: the loader may get the same addresses next, which ThreadSanitizer takes for a
    // race.
    void *bytes = kwi_allocate(copy->bytes);
    if (bytes == NULL) {
        return kwi_fail_memory(err);
    }
    kwi_elf elf;
    kw_status status = read_all(copy, bytes, err);
    if (status == KW_OK) {
        status = kwi_elf_open(&elf, bytes, copy->bytes, err);
    }
    if (status == KW_OK) {
        copy->build_id_length = elf.build_id_length;
        memcpy(copy->build_id, elf.build_id, sizeof copy->build_id);
        status = kwi_plugin_facts_read(facts, &elf, err);
    }
    kwi_free(bytes, copy->bytes);
    return status;
}

bool kwi_plugin_copy_equal(const kwi_plugin_copy *a, const kwi_plugin_copy *b)
{
    if (a->device != b->device || a->inode != b->inode ||
        a->build_id_length != b->build_id_length) {
        return false;
    }
    return a->build_id_length > 0 ? memcmp(a->build_id, b->build_id, a->build_id_length) == 0
                                  : a->content == b->content;
}
