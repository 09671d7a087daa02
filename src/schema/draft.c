// The draft: nodes of types, linked while they are read and laid side by side at the end.
//
// Layer:   schema
// Threads: a draft belongs to its parser.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "schema/parser.h"

kwi_draft_type *kwi_draft_node(const kwi_parser *parser, uint16_t type)
{
    return &parser->draft->types[type];
}

bool kwi_draft_add(kwi_parser *parser, uint32_t offset, kw_type_kind kind,
                   const kwi_type_list *children, uint16_t *out_type)
{
    kwi_draft *draft = parser->draft;
    if (draft->type_count == KWI_TYPE_NODES_MAX) {
        return kwi_parser_fail_at(parser, offset, "a schema has at most %d types",
                                  KWI_TYPE_NODES_MAX);
    }
    if (parser->depth + children->height >= KWI_TYPE_DEPTH_MAX) {
        return kwi_parser_fail_at(parser, offset, "types are nested at most %d deep",
                                  KWI_TYPE_DEPTH_MAX);
    }
    *out_type = (uint16_t)draft->type_count++;
    *kwi_draft_node(parser, *out_type) =
        (kwi_draft_type){.type = {.kind = (uint8_t)kind,
                                  .first_child = children->first,
                                  .child_count = children->count},
                         .height = (uint8_t)(children->height + 1)};
    return true;
}

void kwi_draft_append(kwi_parser *parser, kwi_type_list *list, uint16_t type)
{
    if (list->count == 0) {
        list->first = type;
    } else {
        kwi_draft_node(parser, list->last)->next = type;
    }
    list->last = type;
    list->count++;
    uint8_t height = kwi_draft_node(parser, type)->height;
    list->height = height > list->height ? height : list->height;
}

bool kwi_draft_wrap(kwi_parser *parser, uint32_t offset, kw_type_kind kind, uint16_t *type)
{
    kwi_type_list children = {.count = 0};
    kwi_draft_append(parser, &children, *type);
    return kwi_draft_add(parser, offset, kind, &children, type);
}

bool kwi_draft_has_more(const kwi_read_type *type)
{
    return type->sized || type->more.alias.length > 0 || type->more.name.length > 0;
}

// Where nodes go, and how many of each are there.
typedef struct placing {
    const kwi_draft *draft;
    kw_type *types;
    kwi_type_more *more;
    uint32_t count;
    uint32_t more_count;
} placing;

// Puts a node behind the others. Until its children are placed, its `index` and `first_child` are
// those of the draft.
static void place(placing *to, uint16_t drafted)
{
    const kwi_read_type *read = &to->draft->types[drafted].type;
    kw_type *type = &to->types[to->count++];
    *type = (kw_type){.kind = read->kind & 0x3fU,
                      .index = drafted & 0x3ffU,
                      .first_child = read->first_child & 0x3ffU,
                      .sized = read->sized,
                      .written = read->written,
                      .child_count = read->child_count & 0x3ffU};
    if (kwi_draft_has_more(read)) {
        to->more[to->more_count++] = read->more;
        type->more = to->more_count & 0x3ffU;
    }
}

static void place_roots(placing *to)
{
    for (uint32_t i = 0; i < to->draft->arg_count; i++) {
        place(to, to->draft->arg_types[i]);
    }
    for (uint32_t i = 0; i < to->draft->return_count; i++) {
        place(to, to->draft->return_types[i]);
    }
}

static void place_children(placing *to, uint32_t at)
{
    kw_type *parent = &to->types[at];
    uint16_t child = parent->first_child;
    parent->index = at & 0x3ffU;
    parent->first_child = to->count & 0x3ffU;
    for (uint32_t i = 0; i < parent->child_count; i++) {
        place(to, child);
        child = to->draft->types[child].next;
    }
}

// The place of a member among those sorted already, or whether it is there.
static bool find_place(const kw_type *members, uint32_t sorted, const kw_type *member,
                       uint32_t *out_place)
{
    uint32_t low = 0;
    uint32_t high = sorted;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = kwi_type_order(&members[middle], member);
        if (order == 0) {
            return false;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *out_place = low;
    return true;
}

// Sorts a union's members, each once. Below them everything is in its place.
static void order_members(kw_type *types, kw_type *parent)
{
    kw_type *members = types + parent->first_child;
    uint32_t sorted = 0;
    for (uint32_t i = 0; i < parent->child_count; i++) {
        uint32_t at = 0;
        if (!find_place(members, sorted, &members[i], &at)) {
            continue;
        }
        const kw_type member = members[i];
        memmove(&members[at + 1], &members[at], (sorted - at) * sizeof *members);
        members[at] = member;
        sorted++;
        for (uint32_t k = at; k < sorted; k++) {
            members[k].index = (parent->first_child + k) & 0x3ffU;
        }
    }
    parent->child_count = sorted & 0x3ffU;
}

void kwi_draft_place(const kwi_draft *draft, kw_schema *schema)
{
    placing to = {.draft = draft,
                  .types = (kw_type *)(uintptr_t)kwi_schema_types(schema),
                  .more = (kwi_type_more *)(uintptr_t)kwi_schema_more(schema)};
    place_roots(&to);
    for (uint32_t at = 0; at < to.count; at++) {
        place_children(&to, at);
    }
    for (uint32_t at = to.count; at-- > 0;) {
        if (to.types[at].kind == KW_TYPE_UNION) {
            order_members(to.types, &to.types[at]);
        }
    }
}
