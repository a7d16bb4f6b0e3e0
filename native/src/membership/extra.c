#include "membership/extra.h"

#include <stdlib.h>

#include "core/engine.h"
#include "core/limits.h"
#include "membership/group.h"

enum { BETWEEN_MAX = QSM_PAST_VIEWS - 1, CAPACITY_START = 3 };

qsm_extra *qsm_extra_of(qsm_group *group) {
    if (group->extra == NULL) group->extra = calloc(1, sizeof *group->extra);
    return group->extra;
}

void qsm_extra_free(qsm_group *group) {
    if (group->extra == NULL) return;
    qsm_other_keys_free(group->extra->keys);
    free(group->extra->hybrid);
    free(group->extra);
    group->extra = NULL;
}

/* Three places, then seven, and so on, up to as many as are ever remembered. */
static bool make_room(qsm_group *group) {
    qsm_extra *extra = qsm_extra_of(group);
    if (extra == NULL || extra->between < extra->capacity || extra->capacity == BETWEEN_MAX)
        return extra != NULL;
    uint32_t capacity = extra->capacity ? extra->capacity * 2 + 1 : CAPACITY_START;
    if (capacity > BETWEEN_MAX) capacity = BETWEEN_MAX;
    extra = realloc(extra, sizeof *extra + capacity * sizeof *extra->views);
    if (extra == NULL) return false;
    extra->capacity = capacity;
    group->extra = extra;
    return true;
}

void qsm_extra_remember(qsm_group *group) {
    if (!make_room(group)) return;
    qsm_extra *extra = group->extra;
    extra->views[extra->between++ % BETWEEN_MAX] = group->view;
}

void qsm_extra_forget(qsm_group *group) {
    if (group->extra != NULL) group->extra->between = 0;
}

/* Only as many views are remembered as can still matter: senders silent for longer have been heard
 * to the end. */
bool qsm_group_was_in(const qsm_group *group, uint64_t view) {
    if (group->view == 0) return false;
    uint32_t between = group->extra != NULL ? group->extra->between : 0;
    if (view == group->view || (view == group->joined_view && between < BETWEEN_MAX)) return true;
    for (uint32_t i = 0; i < between && i < BETWEEN_MAX; i++)
        if (group->extra->views[i] == view) return true;
    return false;
}

bool qsm_group_is_for(const qsm_group *group, uint64_t view) {
    if (group->joined_view == 0 || view < group->joined_view) return false;
    if (qsm_group_was_in(group, view)) return true;
    uint32_t between = group->extra != NULL ? group->extra->between : 0;
    if (between < BETWEEN_MAX) return false;
    uint64_t oldest = group->view; /* what was before cannot be told any more: it came over a region
                                      of ours, so yes */
    for (uint32_t i = 0; i < BETWEEN_MAX; i++)
        if (group->extra->views[i] < oldest) oldest = group->extra->views[i];
    return view < oldest;
}

const qsm_address *qsm_extra_hybrid(const qsm_group *group) {
    static const qsm_address none = {.family = QSM_FAMILY_NONE};
    bool set = group->extra != NULL && group->extra->hybrid != NULL;
    return set ? group->extra->hybrid : &none;
}

bool qsm_extra_set_hybrid(qsm_group *group, const qsm_address *address) {
    if (qsm_address_equal(qsm_extra_hybrid(group), address)) return true;
    qsm_extra *extra = qsm_extra_of(group);
    if (extra == NULL) return false;
    if (!qsm_address_is_set(address)) {
        free(extra->hybrid);
        extra->hybrid = NULL;
    } else {
        if (extra->hybrid == NULL) extra->hybrid = malloc(sizeof *extra->hybrid);
        if (extra->hybrid == NULL) return false;
        *extra->hybrid = *address;
    }
    group->engine->subscription_generation++;
    return true;
}
