// The page's files: an array that the build makes of page/.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_PAGE_FILES_H
#define SERVE_PAGE_FILES_H

#include <stddef.h>

typedef struct serve_page_file {
    const char *path; // of the request
    const char *type;
    const unsigned char *bytes;
    size_t byte_count;
} serve_page_file;

extern const serve_page_file serve_page_files[];
extern const size_t serve_page_file_count;

#endif // SERVE_PAGE_FILES_H
