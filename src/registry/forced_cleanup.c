// Forced cleanups: telling of threads that ended inside a call or under a snapshot.
//
// Layer:   registry
// Threads: gathered under the writer lock, told outside it by the thread that commits, drains or
//          reclaims next.
// SPDX-License-Identifier: MIT

#include "registry/forced_cleanup.h"

#include "base/text.h"
#include "registry/dispatcher.h"
#include "registry/listener.h"
#include "registry/operator.h"
#include "registry/world.h"

// guard: lock writer.
static struct {
    kwi_forced_cleanup_function tell;
    void *context;
} listener KWI_GUARDED_BY(kwi_role_writer);

void kwi_forced_cleanup_listen(kwi_forced_cleanup_function tell, void *context)
{
    kwi_world_lock();
    listener.tell = tell;
    listener.context = context;
    kwi_world_unlock();
}

// The operator whose table lies at an address that a thread has left behind.
typedef struct search {
    const void *table;
    const kw_operator *op;
} search;

static void look(const kwi_block *block, void *context)
{
    search *wanted = context;
    if ((const void *)block == wanted->table) {
        wanted->op = block->owner;
    }
}

// Addresses are compared, so a stale one finds nothing, or at worst another operator.
static const kw_operator *find_op(const void *table) KWI_REQUIRES(kwi_role_writer)
{
    search wanted = {.table = table};
    kwi_reclaim_visit(&kwi_the_world.reclaimer, look, &wanted);
    for (const kw_dispatcher *dispatcher = kwi_the_world.dispatchers; dispatcher != NULL;
         dispatcher = dispatcher->next) {
        for (const kw_operator *op = dispatcher->operators; op != NULL; op = op->next) {
            if ((const void *)kwi_operator_newest(op) == table) {
                wanted.op = op;
            }
        }
    }
    return wanted.op;
}

void kwi_forced_news_gather(kwi_forced_news *news)
{
    kwi_forced_end ends[KWI_FORCED_END_COUNT];
    news->tell = listener.tell;
    news->context = listener.context;
    news->count = kwi_forced_end_take(ends);
    for (size_t i = 0; i < news->count; i++) {
        const kw_operator *op = ends[i].table != NULL ? find_op(ends[i].table) : NULL;
        kwi_text name;
        kwi_text_init(&name, news->names[i], KWI_FORCED_NAME_BYTES);
        kwi_text_add(&name, "%s", op != NULL ? op->name : "");
        news->cleanups[i] = (kwi_forced_cleanup){
            .thread = ends[i].thread,
            .op = op != NULL ? news->names[i] : NULL,
            .call_count = ends[i].call_count,
            .snapshot_count = ends[i].snapshot_count,
        };
    }
}

static void tell_listeners(const kwi_forced_cleanup *cleanup)
{
    char sentence[KWI_EVENT_TEXT_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_text_add(&text, "thread %llu ended inside %u calls and under %u snapshots",
                 (unsigned long long)cleanup->thread, (unsigned)cleanup->call_count,
                 (unsigned)cleanup->snapshot_count);
    kwi_event_tell(KW_EVENT_FORCED_CLEANUP, cleanup->op, sentence);
}

void kwi_forced_news_tell(const kwi_forced_news *news)
{
    for (size_t i = 0; i < news->count; i++) {
        if (news->tell != NULL) {
            news->tell(&news->cleanups[i], news->context);
        }
        tell_listeners(&news->cleanups[i]);
    }
}
