// Ways: how each seeded fault can be caught.
//
// Layer:   stress
// Threads: the main thread; the list is immutable.
// SPDX-License-Identifier: MIT

#include "faults/faults_list.h"

#include <stddef.h>

#define SCENARIO(what)                                                                             \
    {                                                                                              \
        STRESS_WAY_SCENARIO, what                                                                  \
    }
#define RACE(what)                                                                                 \
    {                                                                                              \
        STRESS_WAY_RACE, what                                                                      \
    }
#define EXPLORE(what)                                                                              \
    {                                                                                              \
        STRESS_WAY_EXPLORE, what                                                                   \
    }
#define RECLAIM(what)                                                                              \
    {                                                                                              \
        STRESS_WAY_UNIT, "unit_reclaim_fault reclaim_fault/" what                                  \
    }
#define REGISTRY(what)                                                                             \
    {                                                                                              \
        STRESS_WAY_UNIT, "unit_reclaim_fault registry_fault/" what                                 \
    }
#define PROGRAM(what)                                                                              \
    {                                                                                              \
        STRESS_WAY_PROGRAM, what                                                                   \
    }
#define MODEL(what)                                                                                \
    {                                                                                              \
        STRESS_WAY_MODEL, what                                                                     \
    }

// clang-format off
static const stress_proof proofs[] = {
    {KWI_FAULT_NO_GRACE_PERIOD, {EXPLORE("plain"), SCENARIO("storm")}},
    {KWI_FAULT_ANNOUNCE_AFTER_LEAVING,
     {EXPLORE("plain"), REGISTRY("announced_after_the_section")}},
    {KWI_FAULT_ANNOUNCE_UNCHECKED,
     {SCENARIO("storm"), EXPLORE("replace"), REGISTRY("announced_and_not_checked")}},
    {KWI_FAULT_SLOT_BEFORE_DEPTH,
     {SCENARIO("signals"), EXPLORE("signal"), REGISTRY("slot_written_before_the_depth_rises")}},
    {KWI_FAULT_VERSION_BEFORE_TABLES, {EXPLORE("deferred"), SCENARIO("storm")}},
    {KWI_FAULT_LIMIT_WITHOUT_VERSION, {SCENARIO("storm"), EXPLORE("deferred")}},
    {KWI_FAULT_PIN_OUTSIDE_SECTION, {SCENARIO("storm"), EXPLORE("snapshot")}},
    {KWI_FAULT_NESTED_SNAPSHOT_REPINS,
     {SCENARIO("storm"), EXPLORE("nested-pin"), REGISTRY("nested_snapshot_pins_anew")}},
    {KWI_FAULT_IGNORE_PINS, {SCENARIO("storm"), EXPLORE("closing"), RECLAIM("pins_ignored")}},
    {KWI_FAULT_IGNORE_ANNOUNCEMENTS,
     {SCENARIO("storm"), EXPLORE("replace"), RECLAIM("announcements_ignored")}},
    {KWI_FAULT_TOP_ANNOUNCEMENT_ONLY,
     {SCENARIO("nested"), EXPLORE("nested"), RECLAIM("only_the_top_announcement_read")}},
    {KWI_FAULT_ANNOUNCEMENTS_BEFORE_PINS,
     {EXPLORE("closing"), REGISTRY("announcements_read_before_pins")}},
    {KWI_FAULT_UNRIPE_RECLAIMED,
     {EXPLORE("writers"), SCENARIO("torture"), RECLAIM("unripe_block_reclaimed")}},
    {KWI_FAULT_NO_NEW_TICKET,
     {EXPLORE("middle"), RECLAIM("block_on_the_way_without_a_new_ticket")}},
    {KWI_FAULT_MIDDLE_FREED_AT_ONCE,
     {EXPLORE("middle"), SCENARIO("torture"), RECLAIM("block_on_the_way_freed_at_once")}},
    {KWI_FAULT_KERNEL_FREED_WITH_REGISTRATION, {SCENARIO("storm"), EXPLORE("replace")}},
    {KWI_FAULT_PIN_COPIED,
     {EXPLORE("handover"), SCENARIO("storm"), REGISTRY("pin_copied_between_threads")}},
    {KWI_FAULT_SHARED_NOT_SCANNED,
     {EXPLORE("handover"), SCENARIO("storm"), REGISTRY("shared_snapshot_not_scanned")}},
    {KWI_FAULT_SHARED_RELEASED_FIRST,
     {EXPLORE("handover"), SCENARIO("signals"),
      REGISTRY("shared_snapshot_released_before_the_pin_is_stored")}},
    {KWI_FAULT_SHARED_SCANNED_APART,
     {EXPLORE("handover"), REGISTRY("list_and_words_scanned_apart")}},
    {KWI_FAULT_TABLE_BEFORE_COMPLETE,
     {SCENARIO("storm"), EXPLORE("replace"), REGISTRY("table_published_before_it_is_complete")}},
    {KWI_FAULT_MASK_OF_OTHER_VERSION, {SCENARIO("storm"), EXPLORE("closing")}},
    {KWI_FAULT_DRAIN_WITHOUT_GRACE_PERIOD, {SCENARIO("storm"), EXPLORE("deferred")}},
    {KWI_FAULT_RELAXED_SLOT_STORE, {MODEL("relacy"), RACE("storm")}},
    {KWI_FAULT_RELAXED_POP, {MODEL("relacy"), RACE("storm")}},
    {KWI_FAULT_RELAXED_PUBLICATION, {MODEL("relacy"), RACE("storm")}},
    {KWI_FAULT_RELAXED_SCAN, {MODEL("relacy"), RACE("storm")}},
    {KWI_FAULT_LOST_FALLTHROUGH_UPDATE, {SCENARIO("storm"), EXPLORE("fallthrough")}},
    {KWI_FAULT_POP_FORGETS_LEVEL,
     {SCENARIO("nested"), EXPLORE("replace"), REGISTRY("end_of_a_call_forgets_a_level")}},
    {KWI_FAULT_CLOSED_NOT_CHECKED,
     {SCENARIO("nested"), EXPLORE("closed"), REGISTRY("closed_library_registers")}},
    {KWI_FAULT_LEASE_IGNORED,
     {SCENARIO("nested"), EXPLORE("lease"), REGISTRY("drain_ignores_a_lease")}},
    {KWI_FAULT_GONE_BEFORE_DESTRUCTOR,
     {SCENARIO("nested"), EXPLORE("burial"),
      REGISTRY("kernel_gone_before_its_destructor_has_returned")}},
    {KWI_FAULT_UNMAPPED_BEFORE_DRAINED, {SCENARIO("plugins"), PROGRAM("plugins_inside")}},
};
// clang-format on

const stress_proof *stress_proof_find(kwi_fault fault)
{
    for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++) {
        if (proofs[i].fault == fault) {
            return &proofs[i];
        }
    }
    return NULL;
}
