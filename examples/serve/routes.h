// Routes: what the two ports answer to, as tables.
//
// Layer:   example (uses http, server)
// Threads: routes are called by the threads of libmicrohttpd
// SPDX-License-Identifier: MIT

#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

#include "http.h"

// End with a route without a method.
extern const serve_route serve_public_routes[];
extern const serve_route serve_admin_routes[];

// Routes with files of their own.
enum MHD_Result serve_predict_route(serve_exchange *exchange);
enum MHD_Result serve_operators_route(serve_exchange *exchange);
enum MHD_Result serve_operator_table_route(serve_exchange *exchange);
enum MHD_Result serve_metrics_route(serve_exchange *exchange);
enum MHD_Result serve_page_route(serve_exchange *exchange);

enum {
    SERVE_PREDICT_BODY_MAX = 16384 // 784 numbers with some room between them
};

#endif // SERVE_ROUTES_H
