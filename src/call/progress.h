// Progress: what a redispatch says that would run the same kernel again.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_PROGRESS_H
#define KWI_CALL_PROGRESS_H

#include <keyway/kernel.h>

// Sets the thread's text and returns KW_NO_PROGRESS.
kw_status kwi_progress_refuse(const kw_operator *op, kw_keyset keys);

#endif // KWI_CALL_PROGRESS_H
