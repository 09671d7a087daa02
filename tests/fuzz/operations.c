// Fuzz target: sequences of operations, run on the library and on the sequential reference.
//
// Every input is a sequence: a record is eight bytes (operations/sequence.h). After each operation
// both sides must say the same, see operations/side.h.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "fuzz/fuzz.h"
#include "operations/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sequence_record records[SEQUENCE_MOST];
    size_t count = size / sizeof records[0];
    count = count < SEQUENCE_MOST ? count : SEQUENCE_MOST;
    if (count > 0) {
        memcpy(records, data, count * sizeof records[0]);
    }
    operations_run(records, count);
    return 0;
}
