// Inputs for a fuzz target: files, and mutations of them that a seed decides.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

// The longest mutation. Longer files run as they are.
#define FUZZ_INPUT_MAX 4096

typedef struct fuzz_input {
    uint8_t *data;
    size_t size;
} fuzz_input;

typedef struct fuzz_corpus {
    fuzz_input *inputs;
    size_t count;
    fuzz_input *words; // of the dictionary
    size_t word_count;
} fuzz_corpus;

// Read a file, and a dictionary in the form of libFuzzer's: "word" a line. A file that cannot be
// read ends the program.
void fuzz_corpus_read(fuzz_corpus *corpus, const char *path);
void fuzz_dictionary_read(fuzz_corpus *corpus, const char *path);
void fuzz_corpus_fini(fuzz_corpus *corpus);

// Writes the next mutation and returns its size. `random` is the state of the generator.
size_t fuzz_mutate(const fuzz_corpus *corpus, uint64_t *random, uint8_t out[FUZZ_INPUT_MAX]);

#endif // FUZZ_MUTATE_H
