// Seeded faults of test builds: how tests prove that they would find a defect.
//
// Layer:   interp
// Threads: set before other threads run.
// SPDX-License-Identifier: MIT

#ifndef KWI_INTERP_FAULT_H
#define KWI_INTERP_FAULT_H

typedef enum kwi_interp_fault {
    KWI_INTERP_FAULT_NONE,
    KWI_INTERP_FAULT_DISARM_DOES_NOT_WAIT, // for those that are inside
    KWI_INTERP_FAULT_LOOK_BEFORE_COUNTING, // enter looks whether it is armed, then counts
    KWI_INTERP_FAULT_RECORD_STAYS,         // a failing call leaves its record of local sets
    KWI_INTERP_FAULT_MODE_STAYS_OFF,       // a failing handler's mode is not put back
} kwi_interp_fault;

#ifdef KWI_TESTING
extern kwi_interp_fault kwi_interp_fault_now;
#define KWI_INTERP_FAULT(name) (kwi_interp_fault_now == KWI_INTERP_FAULT_##name)
#else
#define KWI_INTERP_FAULT(name) false
#endif

#endif // KWI_INTERP_FAULT_H
