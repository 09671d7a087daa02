// Roles: what clang's thread-safety analysis knows of our mutexes. Other compilers see nothing.
//
// Layer:   base
// Threads: compile time only.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_ROLE_H
#define KWI_BASE_ROLE_H

#if defined(__clang__)
#define KWI_ROLE_ATTRIBUTE(x) __attribute__((x))
#else
#define KWI_ROLE_ATTRIBUTE(x)
#endif

#define KWI_GUARDED_BY(role) KWI_ROLE_ATTRIBUTE(guarded_by(role))
#define KWI_REQUIRES(role) KWI_ROLE_ATTRIBUTE(requires_capability(role))
#define KWI_ACQUIRES(role) KWI_ROLE_ATTRIBUTE(acquire_capability(role))
#define KWI_RELEASES(role) KWI_ROLE_ATTRIBUTE(release_capability(role))
#define KWI_EXCLUDES(role) KWI_ROLE_ATTRIBUTE(locks_excluded(role))
#define KWI_UNCHECKED KWI_ROLE_ATTRIBUTE(no_thread_safety_analysis)

// One role a lock rank. Declared and never defined: the analysis needs a name, not an object.
typedef struct KWI_ROLE_ATTRIBUTE(capability("mutex")) kwi_role {
    char unused;
} kwi_role;

extern kwi_role kwi_role_writer;
extern kwi_role kwi_role_plugin; // what is known of plugins; taken before the writer's
extern kwi_role kwi_role_shared; // the list of shared snapshots; taken after the writer's

#endif // KWI_BASE_ROLE_H
