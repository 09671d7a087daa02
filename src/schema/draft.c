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

static void place_roots(const kwi_draft *draft, kw_type *types, uint32_t *count)
{
    for (uint32_t i = 0; i < draft->arg_count; i++) {
        types[*count] = draft->types[draft->arg_types[i]].type;
        types[(*count)++].index = draft->arg_types[i];
    }
    for (uint32_t i = 0; i < draft->return_count; i++) {
        types[*count] = draft->types[draft->return_types[i]].type;
        types[(*count)++].index = draft->return_types[i];
    }
}

// Until a node's children are placed, its `index` and `first_child` are those of the draft.
static void place_children(const kwi_draft *draft, kw_type *types, uint32_t place, uint32_t *count)
{
    uint16_t child = types[place].first_child;
    types[place].index = (uint16_t)place;
    types[place].first_child = (uint16_t)*count;
    for (uint32_t i = 0; i < types[place].child_count; i++) {
        types[*count] = draft->types[child].type;
        types[(*count)++].index = child;
        child = draft->types[child].next;
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
static void order_members(kw_type *types, const kw_type *parent, uint16_t *out_count)
{
    kw_type *members = types + parent->first_child;
    uint32_t sorted = 0;
    for (uint32_t i = 0; i < parent->child_count; i++) {
        uint32_t place = 0;
        if (!find_place(members, sorted, &members[i], &place)) {
            continue;
        }
        const kw_type member = members[i];
        memmove(&members[place + 1], &members[place], (sorted - place) * sizeof *members);
        members[place] = member;
        sorted++;
        for (uint32_t k = place; k < sorted; k++) {
            members[k].index = (uint16_t)(parent->first_child + k);
        }
    }
    *out_count = (uint16_t)sorted;
}

void kwi_draft_place(const kwi_draft *draft, kw_type *types)
{
    uint32_t count = 0;
    place_roots(draft, types, &count);
    for (uint32_t place = 0; place < count; place++) {
        place_children(draft, types, place, &count);
    }
    for (uint32_t place = count; place-- > 0;) {
        if (types[place].kind == KW_TYPE_UNION) {
            order_members(types, &types[place], &types[place].child_count);
        }
    }
}
