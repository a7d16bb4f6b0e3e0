/* oracle_views.c - views as nodes were told them: the same number means the same members in the
 * same order everywhere, and numbers grow. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sim_random.h"
#include "oracle_state.h"

static int compare_ids(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

/* Where a view of that number is, or belongs. */
static size_t view_rank(const oracle_group *group, uint64_t number) {
    size_t low = 0, high = group->views.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (group->views.items[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const oracle_view *oracle_find_view(const oracle_group *group, uint64_t number) {
    const size_t rank = view_rank(group, number);
    if (rank == group->views.count || group->views.items[rank].number != number) return NULL;
    return &group->views.items[rank];
}

bool oracle_view_has(const oracle_view *view, uint64_t id) {
    return bsearch(&id, view->members, view->member_count, sizeof id, compare_ids) != NULL;
}

static oracle_view view_of(const qsm_event *event, uint32_t node) {
    oracle_view view = {.number = event->view,
                        .node_told = node,
                        .member_count = event->member_count,
                        .members = calloc(event->member_count + 1, sizeof *view.members)};
    if (view.members == NULL) abort();
    for (uint32_t i = 0; i < event->member_count; i++) {
        view.members[i] = event->members[i];
        view.order_hash = qsm_sim_mix2(view.order_hash, event->members[i]);
    }
    qsort(view.members, view.member_count, sizeof *view.members, compare_ids);
    return view;
}

/* Enters the view, or compares it with what others were told under the same number. */
static void record_view(oracle *judge, oracle_seat *seat, const qsm_event *event, uint64_t id) {
    oracle_group *group = &judge->groups.items[seat->group];
    oracle_view view = view_of(event, seat->node);
    for (uint32_t i = 1; i < view.member_count; i++) {
        if (view.members[i] == view.members[i - 1]) {
            oracle_fail(judge, "view %" PRIu64 " of group %u at node %u names a member twice",
                        view.number, seat->group, seat->node);
        }
    }
    if (!oracle_view_has(&view, id)) {
        oracle_fail(judge, "node %u was told view %" PRIu64 " of group %u, which it is not in",
                    seat->node, view.number, seat->group);
    }
    const size_t rank = view_rank(group, view.number);
    if (rank < group->views.count && group->views.items[rank].number == view.number) {
        const oracle_view *known = &group->views.items[rank];
        if (known->member_count != view.member_count || known->order_hash != view.order_hash) {
            oracle_fail(judge,
                        "nodes %u and %u were told different members (%u and %u) of view %" PRIu64
                        " of group %u",
                        known->node_told, seat->node, known->member_count, view.member_count,
                        view.number, seat->group);
        }
        free(view.members);
        return;
    }
    VECTOR_PUSH(&group->views, view);
    memmove(&group->views.items[rank + 1], &group->views.items[rank],
            (group->views.count - 1 - rank) * sizeof view);
    group->views.items[rank] = view;
}

void oracle_observe_view(oracle *judge, oracle_seat *seat, const qsm_event *event, uint64_t id) {
    if (event->view <= seat->view) {
        oracle_fail(judge, "node %u was told view %" PRIu64 " of group %u after view %" PRIu64,
                    seat->node, event->view, seat->group, seat->view);
    }
    record_view(judge, seat, event, id);
    seat->view = event->view;
    seat->view_count++;
    VECTOR_PUSH(&seat->views_told, event->view);
}
