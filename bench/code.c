// A generated call and a generated redispatch, each alone in a section, whose size is its own.
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT
//
// code_small.c compiles it once more, with KW_SMALL_CODE. What the compiler would move out of the
// way, because it seldom runs, stays in the section and counts.

#include "code.h"

#include <call.h>

#ifdef KW_SMALL_CODE
#define SORT(name) name##_small
#else
#define SORT(name) name##_large
#endif
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#define PASTED(left, right) left##right
#define PASTE(left, right) PASTED(left, right)
#define CALL SORT(bench_call_code)
#define REDISPATCH SORT(bench_redispatch_code)

// The linker defines where a section begins and ends.
extern const char PASTE(__start_, CALL)[], PASTE(__stop_, CALL)[];
extern const char PASTE(__start_, REDISPATCH)[], PASTE(__stop_, REDISPATCH)[];

__attribute__((section(TEXT(CALL)), used)) static kw_status
call(const kw_operator *op, bench_tensor *a, bench_tensor *b, int64_t c, int64_t *out_0)
{
    return bench_two_call_on(op, a, b, c, out_0);
}

__attribute__((section(TEXT(REDISPATCH)), used)) static kw_status
redispatch(const kw_operator *op, kw_keyset keys, bench_tensor *a, bench_tensor *b, int64_t c,
           int64_t *out_0)
{
    return bench_two_redispatch_on(op, keys, a, b, c, out_0);
}

bench_code SORT(bench_code)(void)
{
    return (bench_code){.call_bytes = (size_t)(PASTE(__stop_, CALL) - PASTE(__start_, CALL)),
                        .redispatch_bytes =
                            (size_t)(PASTE(__stop_, REDISPATCH) - PASTE(__start_, REDISPATCH))};
}
