// What the reference knows of schemas: their C signatures, and how they compare.
//
// Layer:   test
// Threads: any, after the first question of one.
// SPDX-License-Identifier: MIT

#ifndef REFERENCE_SIGNATURE_H
#define REFERENCE_SIGNATURE_H

#include "reference/reference.h"

// The numbers of C signatures; 0 is none, as of boxed kernels.
uint8_t reference_signature_of_schema(reference_schema schema);
uint8_t reference_signature_of_form(reference_form form);

// What kw_schema_parse() says of the schema.
kw_status reference_schema_status(reference_schema schema);

bool reference_schema_equal(reference_schema a, reference_schema b);

// What is said of a kernel that states `found` where `expected` is defined: KW_OK if it fits.
kw_status reference_schema_mismatch(reference_schema expected, reference_schema found);

#endif // REFERENCE_SIGNATURE_H
