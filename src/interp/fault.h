// Seeded faults of test builds: how tests prove that they would find a defect.
//
// Layer:   interp
// Threads: set before other threads run.
// SPDX-License-Identifier: MIT

#ifndef KWI_INTERP_FAULT_H
#define KWI_INTERP_FAULT_H

#include <stdbool.h>

typedef enum kwi_interp_fault {
    KWI_INTERP_FAULT_NONE,
    KWI_INTERP_FAULT_DISARM_DOES_NOT_WAIT, // for those that are inside
    KWI_INTERP_FAULT_LOOK_BEFORE_COUNTING, // enter looks whether it is armed, then counts
    KWI_INTERP_FAULT_RECORD_STAYS,         // the record of local sets outlives its call
    KWI_INTERP_FAULT_MODE_STAYS_OFF,       // a failing handler's mode is not put back
} kwi_interp_fault;

#ifdef KWI_TESTING
extern kwi_interp_fault kwi_interp_fault_now;
#define KWI_INTERP_FAULT(name) (kwi_interp_fault_now == KWI_INTERP_FAULT_##name)
// Whether threads give the processor away between the first look and the count, where an
// interpreter that is shut down meanwhile has to be noticed.
extern bool kwi_interp_waits;
void kwi_interp_wait_after_look(void);
#define KWI_INTERP_WAIT_AFTER_LOOK() kwi_interp_wait_after_look()
#else
#define KWI_INTERP_FAULT(name) false
#define KWI_INTERP_WAIT_AFTER_LOOK() ((void)0)
#endif

#endif // KWI_INTERP_FAULT_H
