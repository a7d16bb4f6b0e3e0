/* oracle_end.c - what can be judged only when a run is over: gaps, all or none, agreement. */
#include "oracle.h"

#include <inttypes.h>
#include <string.h>

#include "oracle_state.h"

/* Whether a sender is given its own messages too. */
#define OWN_MESSAGES_DELIVERED true

static const oracle_seat *seat_of(const oracle *judge, const oracle_group *group, size_t index) {
    return judge->seats.items[group->seats.items[index]];
}

/* A seat that is there at the end and of which everything may be asked. */
static bool is_survivor(const oracle *judge, const oracle_seat *seat) {
    const oracle_life *life = &judge->lives.items[seat->life];
    return seat->open && !life->ended && !life->excused;
}

/* True when the same life was in the group before: its member may have gone and come back between
 * two views that both hold it, and the earlier one is of the earlier stay. */
static bool is_later_stay(const oracle *judge, const oracle_group *group, const oracle_seat *seat) {
    for (size_t i = 0; i < seat->index; i++) {
        if (seat_of(judge, group, i)->life == seat->life) return true;
    }
    return false;
}

/* ---- messages belong to views ---------------------------------------------------------------- */

static void check_views_of_messages(oracle *judge, const oracle_group *group,
                                    const oracle_seat *seat) {
    for (size_t i = 0; i < seat->runs.count; i++) {
        const oracle_run *run = &seat->runs.items[i];
        const oracle_view *view = oracle_find_view(group, run->view);
        if (view == NULL) continue; /* nobody lived to be told of it */
        const oracle_seat *sender = seat_of(judge, group, run->seat);
        if (!oracle_view_has(view, run->receiver)) {
            oracle_fail(judge,
                        "node %u delivered message %" PRIu64 " of node %u in group %u, sent in view"
                        " %" PRIu64 ", which it was not in",
                        seat->node, run->first, sender->node, seat->group, run->view);
        }
        if (!oracle_view_has(view, run->sender)) {
            oracle_fail(judge,
                        "node %u delivered message %" PRIu64 " of node %u in group %u under view"
                        " %" PRIu64 ", which its sender was not in",
                        seat->node, run->first, sender->node, seat->group, run->view);
        }
    }
}

/* ---- ids ------------------------------------------------------------------------------------- */

static void check_claims(oracle *judge) {
    for (size_t i = 0; i < judge->claims.count; i++) {
        const oracle_claim *claim = &judge->claims.items[i];
        const oracle_life *life = &judge->lives.items[claim->life];
        if (life->ended || life->excused || oracle_life_has_id(life, claim->id)) continue;
        oracle_fail(judge, "a message came under the id %" PRIx64 ", which its node never had",
                    claim->id);
    }
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* True when `seat` was told, between these numbers, of a view without `id`. */
static bool was_told_without(const oracle_group *group, const oracle_seat *seat, uint64_t from,
                             uint64_t to, uint64_t id) {
    for (size_t i = 0; i < seat->views_told.count; i++) {
        const uint64_t number = seat->views_told.items[i];
        if (number < from || number > to) continue;
        const oracle_view *view = oracle_find_view(group, number);
        if (view != NULL && !oracle_view_has(view, id)) return true;
    }
    return false;
}

/* The view in which the sender gave itself its message of that number; 0: it was not told of it. */
static uint64_t view_sent_in(const oracle_seat *sender, uint64_t id, uint64_t number) {
    for (size_t i = 0; i < sender->runs.count; i++) {
        const oracle_run *run = &sender->runs.items[i];
        if (run->seat == sender->index && run->sender == id && run->first <= number &&
            number <= run->last) {
            return run->view;
        }
    }
    return 0;
}

/* True when somebody got one of the missing messages, and under a view without the receiver. The
 * sender was in that view, though it may have left the group before its application read of it. */
static bool was_sent_without(const oracle *judge, const oracle_group *group,
                             const oracle_run *after, uint64_t from, uint64_t number_before) {
    for (size_t i = 0; i < group->seats.count; i++) {
        const oracle_seat *witness = seat_of(judge, group, i);
        for (size_t j = 0; j < witness->runs.count; j++) {
            const oracle_run *run = &witness->runs.items[j];
            if (run->seat != after->seat || run->sender != after->sender) continue;
            if (run->first <= number_before || run->last >= after->first) continue;
            if (run->view < from || run->view > after->view) continue;
            const oracle_view *view = oracle_find_view(group, run->view);
            if (view != NULL && !oracle_view_has(view, after->receiver)) return true;
        }
    }
    return false;
}

static void check_gap(oracle *judge, const oracle_group *group, const oracle_seat *seat,
                      const oracle_gap *gap) {
    const oracle_run *after = &seat->runs.items[gap->run_after];
    const oracle_seat *sender = seat_of(judge, group, after->seat);
    uint64_t from = 0, number_before = 0;
    if (gap->run_before != SIZE_MAX) {
        const oracle_run *before = &seat->runs.items[gap->run_before];
        if (before->sender != after->sender || before->receiver != after->receiver) return;
        from = before->view;
        number_before = before->last;
    } else {
        if (after->sender != sender->id || after->receiver != seat->id) return;
        /* What the sender sent before the receiver was there is not missing. */
        if (sender->views_told.count == 0 || seat->views_told.count == 0) return;
        from = is_later_stay(judge, group, seat)
                   ? view_sent_in(sender, after->sender, after->first - 1)
                   : sender->views_told.items[0];
        if (is_later_stay(judge, group, seat) && from < seat->views_told.items[0]) return;
        if (!oracle_view_has(oracle_find_view(group, from), after->receiver)) return;
    }
    if (was_told_without(group, seat, from, after->view, after->sender)) return;
    if (was_told_without(group, sender, from, after->view, after->receiver)) return;
    if (was_sent_without(judge, group, after, from, number_before)) return;
    oracle_fail(judge,
                "node %u got message %" PRIu64 " of node %u in group %u right after number %" PRIu64
                " (views %" PRIu64 " and %" PRIu64 ", at %.6f s): messages are missing",
                seat->node, after->first, sender->node, seat->group, number_before, from,
                after->view, (double)gap->at_ns / 1e9);
}

/* ---- all or none ----------------------------------------------------------------------------- */

typedef VECTOR(oracle_run) run_list;

static int compare_runs(const void *one, const void *other) {
    const oracle_run *a = one, *b = other;
    if (a->seat != b->seat) return a->seat < b->seat ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* What the seat delivered of views from `view_min` on under its present id, by sender and number.
 */
static void collect_runs(const oracle *judge, const oracle_seat *seat, uint64_t view_min,
                         run_list *list) {
    const uint64_t id = judge->lives.items[seat->life].id;
    list->count = 0;
    for (size_t i = 0; i < seat->runs.count; i++) {
        const oracle_run *run = &seat->runs.items[i];
        if (run->view >= view_min && run->receiver == id) VECTOR_PUSH(list, *run);
    }
    if (list->count > 1) qsort(list->items, list->count, sizeof *list->items, compare_runs);
}

/* The first view number from which on neither was told of a view without the other. */
static uint64_t together_since(const oracle *judge, const oracle_group *group,
                               const oracle_seat *one, const oracle_seat *other) {
    uint64_t since = 0;
    const oracle_seat *pair[2] = {one, other};
    for (uint32_t side = 0; side < 2; side++) {
        const uint64_t id = judge->lives.items[pair[1 - side]->life].id;
        if (is_later_stay(judge, group, pair[side]) && pair[side]->views_told.count > 0 &&
            pair[side]->views_told.items[0] > since) {
            since = pair[side]->views_told.items[0];
        }
        for (size_t i = 0; i < pair[side]->views_told.count; i++) {
            const oracle_view *view = oracle_find_view(group, pair[side]->views_told.items[i]);
            if (!oracle_view_has(view, id) && view->number >= since) since = view->number + 1;
        }
    }
    return since;
}

static void fail_all_or_none(oracle *judge, const oracle_group *group, const oracle_seat *has,
                             const oracle_seat *lacks, const oracle_run *run, uint64_t number) {
    const oracle_seat *sender = seat_of(judge, group, run->seat);
    oracle_fail(judge,
                "node %u delivered message %" PRIu64 " of node %u in group %u (view %" PRIu64
                ") and node %u did not, or under another view, though both stayed",
                has->node, number, sender->node, has->group, run->view, lacks->node);
}

/* True when a run of `seat`'s own messages, which nobody delivers to themselves, must not be asked.
 */
static bool concerns(const oracle *judge, const oracle_group *group, const oracle_seat *one,
                     const oracle_seat *other, const oracle_run *run) {
    if (OWN_MESSAGES_DELIVERED) return true;
    const oracle_seat *sender = seat_of(judge, group, run->seat);
    return sender != one && sender != other;
}

static void drop_own(const oracle *judge, const oracle_group *group, const oracle_seat *one,
                     const oracle_seat *other, run_list *list) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (concerns(judge, group, one, other, &list->items[i])) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

static void check_pair(oracle *judge, const oracle_group *group, const oracle_seat *one,
                       const oracle_seat *other, run_list *of_one, run_list *of_other) {
    const uint64_t since = together_since(judge, group, one, other);
    collect_runs(judge, one, since, of_one);
    collect_runs(judge, other, since, of_other);
    drop_own(judge, group, one, other, of_one);
    drop_own(judge, group, one, other, of_other);
    for (size_t i = 0; i < of_one->count || i < of_other->count; i++) {
        if (i >= of_one->count) {
            fail_all_or_none(judge, group, other, one, &of_other->items[i],
                             of_other->items[i].first);
            return;
        }
        if (i >= of_other->count) {
            fail_all_or_none(judge, group, one, other, &of_one->items[i], of_one->items[i].first);
            return;
        }
        const oracle_run *a = &of_one->items[i], *b = &of_other->items[i];
        if (a->seat == b->seat && a->first == b->first && a->last == b->last &&
            a->view == b->view) {
            continue;
        }
        const int order = compare_runs(a, b);
        if (order < 0 || (order == 0 && a->last > b->last)) {
            fail_all_or_none(judge, group, one, other, a, order < 0 ? a->first : b->last + 1);
        } else {
            fail_all_or_none(judge, group, other, one, b, order > 0 ? b->first : a->last + 1);
        }
        return;
    }
}

static void check_all_or_none(oracle *judge, const oracle_group *group) {
    run_list of_one = {.count = 0}, of_other = {.count = 0};
    for (size_t i = 0; i < group->seats.count; i++) {
        const oracle_seat *one = seat_of(judge, group, i);
        if (!is_survivor(judge, one)) continue;
        for (size_t j = i + 1; j < group->seats.count && judge->failure[0] == '\0'; j++) {
            const oracle_seat *other = seat_of(judge, group, j);
            if (is_survivor(judge, other)) {
                check_pair(judge, group, one, other, &of_one, &of_other);
            }
        }
    }
    VECTOR_FREE(&of_one);
    VECTOR_FREE(&of_other);
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Why the group has not agreed on a view, as a sentence in `text`; false when it has. */
static bool is_divided(const oracle *judge, size_t group_index, char *text, size_t bytes) {
    const oracle_group *group = &judge->groups.items[group_index];
    const oracle_seat *model = NULL;
    uint32_t open_count = 0;
    for (size_t i = 0; i < group->seats.count; i++) {
        const oracle_seat *seat = seat_of(judge, group, i);
        if (!seat->open) continue;
        open_count++;
        if (!is_survivor(judge, seat)) continue;
        if (model == NULL) model = seat;
        if (seat->view == 0 || seat->view != model->view) {
            snprintf(text, bytes,
                     "nodes %u and %u have views %" PRIu64 " and %" PRIu64
                     " of group %zu at the end",
                     model->node, seat->node, model->view, seat->view, group_index);
            return true;
        }
    }
    if (model == NULL) return false;
    const oracle_view *view = oracle_find_view(group, model->view);
    if (view->member_count != open_count) {
        snprintf(text, bytes,
                 "the last view (%" PRIu64 ") of group %zu has %u members, and %u nodes are in it",
                 view->number, group_index, view->member_count, open_count);
        return true;
    }
    return false;
}

/* Who in the group lacks the last message of whom; false when nobody lacks any. */
static bool is_incomplete(const oracle *judge, size_t group_index, char *text, size_t bytes) {
    const oracle_group *group = &judge->groups.items[group_index];
    for (size_t i = 0; i < group->seats.count; i++) {
        const oracle_seat *sender = seat_of(judge, group, i);
        if (!is_survivor(judge, sender) || sender->sent == 0) continue;
        for (size_t j = 0; j < group->seats.count; j++) {
            const oracle_seat *seat = seat_of(judge, group, j);
            if (!is_survivor(judge, seat)) continue;
            if (seat == sender && !OWN_MESSAGES_DELIVERED) continue;
            const uint64_t number = i < seat->last_number.count ? seat->last_number.items[i] : 0;
            if (number == sender->sent) continue;
            snprintf(text, bytes,
                     "node %u has message %" PRIu64 " of node %u in group %zu as the last of"
                     " %" PRIu64 " at the end",
                     seat->node, number, sender->node, group_index, sender->sent);
            return true;
        }
    }
    return false;
}

bool oracle_is_agreed(const oracle *judge) {
    char text[300];
    for (size_t i = 0; i < judge->groups.count; i++) {
        if (is_divided(judge, i, text, sizeof text)) return false;
    }
    return true;
}

bool oracle_is_settled(const oracle *judge) {
    char text[300];
    for (size_t i = 0; i < judge->groups.count; i++) {
        if (is_incomplete(judge, i, text, sizeof text)) return false;
    }
    return oracle_is_agreed(judge);
}

void oracle_check_settled(oracle *judge) {
    char text[300];
    for (size_t i = 0; i < judge->groups.count; i++) {
        if (is_divided(judge, i, text, sizeof text) || is_incomplete(judge, i, text, sizeof text)) {
            oracle_fail(judge, "%s", text);
            return;
        }
    }
}

void oracle_check_end(oracle *judge) {
    check_claims(judge);
    for (size_t i = 0; i < judge->groups.count && judge->failure[0] == '\0'; i++) {
        const oracle_group *group = &judge->groups.items[i];
        for (size_t j = 0; j < group->seats.count; j++) {
            const oracle_seat *seat = seat_of(judge, group, j);
            check_views_of_messages(judge, group, seat);
            for (size_t k = 0; k < seat->gaps.count; k++) {
                check_gap(judge, group, seat, &seat->gaps.items[k]);
            }
        }
        check_all_or_none(judge, group);
    }
    oracle_check_settled(judge);
}
