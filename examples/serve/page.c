// The page's files, as the build has put them into the program.
//
// Layer:   example (uses http)
// Threads: any
// SPDX-License-Identifier: MIT

#include <string.h>

#include "page_files.h"
#include "routes.h"

enum MHD_Result serve_page_route(serve_exchange *exchange)
{
    for (size_t i = 0; i < serve_page_file_count; i++) {
        if (strcmp(serve_page_files[i].path, exchange->path) == 0) {
            return serve_http_send_text(exchange, serve_page_files[i].type,
                                        serve_page_files[i].bytes, serve_page_files[i].byte_count,
                                        true);
        }
    }
    return serve_http_send(exchange,
                           serve_answer_error(404, "the page has no file %s", exchange->path));
}
