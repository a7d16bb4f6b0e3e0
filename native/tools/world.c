/* world.c - nodes with applications that send what they are asked to. */
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/engine.h"
#include "drivers/sim_random.h"
#include "world_state.h"

#define SETTLE_STEP_NS (100 * WORLD_MS)

world_options world_defaults(uint64_t seed, uint32_t node_count, uint32_t group_count) {
    world_options options = {.seed = seed,
                             .node_count = node_count,
                             .group_count = group_count,
                             .link = {.delay_ns = 100 * WORLD_US,
                                      .jitter_ns = 20 * WORLD_US,
                                      .bandwidth_bytes_per_s = 125000000,
                                      .queue_bytes = 512 << 10}};
    qsm_config_defaults(&options.config);
    memcpy(options.config.scope_id, "scope under test", sizeof options.config.scope_id);
    memset(options.config.scope_key, 0x5a, sizeof options.config.scope_key);
    return options;
}

void world_tell(const world *under_test, const char *format, ...) {
    if (!under_test->options.verbose) return;
    printf("%10.6f  ", (double)qsm_sim_now_ns(under_test->sim) / 1e9);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

qsm_sim *world_sim(world *under_test) {
    return under_test->sim;
}

oracle *world_judge(world *under_test) {
    return under_test->judge;
}

uint64_t world_now_ns(const world *under_test) {
    return qsm_sim_now_ns(under_test->sim);
}

uint32_t world_node_count(const world *under_test) {
    return qsm_sim_node_count(under_test->sim);
}

const char *world_failure(const world *under_test) {
    return oracle_failure(under_test->judge);
}

place *world_place(const world *under_test, uint32_t node, uint32_t group) {
    assert(node < under_test->applications.count && group < under_test->options.group_count);
    return &under_test->applications.items[node].places[group];
}

oracle_seat *world_seat(const world *under_test, uint32_t node, uint32_t group) {
    return world_place(under_test, node, group)->seat;
}

qsm_group *world_group(const world *under_test, uint32_t node, uint32_t group) {
    return world_place(under_test, node, group)->handle;
}

/* ---- what engines say ------------------------------------------------------------------------ */

static void observe_health(world *under_test, uint32_t node, const qsm_event *event) {
    application *app = &under_test->applications.items[node];
    if (event->health < HEALTH_COUNT) app->health_counts[event->health]++;
    world_tell(under_test, "node %u is %s: %s, id %016" PRIx64, node,
               qsm_health_text((int)event->health), qsm_reason_text((int)event->reason),
               event->sender);
    if (event->health == QSM_HEALTH_CLOSED && app->closing) {
        oracle_node_ended(under_test->judge, node);
        (void)qsm_sim_crash(under_test->sim, node);
    }
}

static void observe(void *context, uint32_t node, const qsm_event *events, uint32_t count) {
    world *under_test = context;
    for (uint32_t i = 0; i < count; i++) {
        const qsm_event *event = &events[i];
        oracle_observe(under_test->judge, world_now_ns(under_test), node, event);
        if (oracle_failure(under_test->judge) != NULL) {
            qsm_sim_stop(under_test->sim);
            return;
        }
        if (event->type == QSM_EVENT_HEALTH) observe_health(under_test, node, event);
        if (event->type == QSM_EVENT_WRITABLE) {
            world_pour_on(under_test, world_place(under_test, node,
                                                  oracle_seat_group((oracle_seat *)event->user)));
        }
        if (event->type == QSM_EVENT_VIEW && under_test->options.verbose) {
            world_tell(under_test, "node %u is told view %" PRIx64 " of group %u, %u members", node,
                       event->view, oracle_seat_group((oracle_seat *)event->user),
                       event->member_count);
        }
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

bool world_is_up(const world *under_test, uint32_t node) {
    return qsm_sim_engine(under_test->sim, node) != NULL &&
           !under_test->applications.items[node].closing;
}

uint32_t world_add_node(world *under_test, const qsm_config *config) {
    const int node =
        qsm_sim_add_node(under_test->sim, config != NULL ? config : &under_test->options.config);
    if (node < 0) {
        fprintf(stderr, "cannot add a node: %s\n", qsm_error_text(node));
        abort();
    }
    application app = {.places = calloc(under_test->options.group_count, sizeof *app.places)};
    if (app.places == NULL) abort();
    for (uint32_t i = 0; i < under_test->options.group_count; i++) {
        app.places[i] = (place){.owner = under_test, .node = (uint32_t)node, .group = i};
    }
    VECTOR_PUSH(&under_test->applications, app);
    oracle_node_started(under_test->judge, (uint32_t)node,
                        qsm_engine_node(qsm_sim_engine(under_test->sim, (uint32_t)node)));
    return (uint32_t)node;
}

static void forget_places(world *under_test, uint32_t node) {
    for (uint32_t i = 0; i < under_test->options.group_count; i++) {
        place *where = world_place(under_test, node, i);
        where->handle = NULL;
        where->seat = NULL;
        world_forgive(under_test, where);
    }
}

/* Views and ids that the engine has told and its application has not read. Nobody hears of them any
 * more, but what it sent, it sent in those views. */
static void observe_unread(world *under_test, uint32_t node) {
    qsm_engine *engine = qsm_sim_engine(under_test->sim, node);
    qsm_event event;
    while (qsm_engine_events(engine, &event, 1) == 1) {
        if (event.type != QSM_EVENT_VIEW && event.type != QSM_EVENT_HEALTH) continue;
        oracle_observe(under_test->judge, world_now_ns(under_test), node, &event);
    }
}

/* The same of one group that the application leaves unread: the engine lives on and drops them. */
static void leave_seat(world *under_test, uint32_t node, oracle_seat *seat) {
    const qsm_event_queue *events = &qsm_sim_engine(under_test->sim, node)->events;
    uint64_t id = oracle_seat_node_id(seat);
    for (uint32_t i = events->fetched; i < events->count; i++) {
        const qsm_event *event = &events->items[(events->first + i) & (events->capacity - 1)].event;
        if (event->type == QSM_EVENT_HEALTH) id = event->sender;
        if (event->type == QSM_EVENT_VIEW && event->user == seat)
            oracle_observe_unread_view(seat, id, event);
    }
    oracle_left(seat);
}

void world_crash(world *under_test, uint32_t node) {
    if (qsm_sim_engine(under_test->sim, node) == NULL) return;
    world_tell(under_test, "node %u crashes", node);
    observe_unread(under_test, node);
    oracle_node_ended(under_test->judge, node);
    (void)qsm_sim_crash(under_test->sim, node);
    forget_places(under_test, node);
}

void world_restart(world *under_test, uint32_t node) {
    if (qsm_sim_engine(under_test->sim, node) != NULL) return;
    world_tell(under_test, "node %u starts again", node);
    const int result = qsm_sim_restart(under_test->sim, node);
    assert(result == QSM_OK);
    (void)result;
    application *app = &under_test->applications.items[node];
    app->closing = false;
    memset(app->health_counts, 0, sizeof app->health_counts);
    oracle_node_started(under_test->judge, node,
                        qsm_engine_node(qsm_sim_engine(under_test->sim, node)));
}

void world_close(world *under_test, uint32_t node) {
    if (!world_is_up(under_test, node)) return;
    world_tell(under_test, "node %u departs", node);
    for (uint32_t i = 0; i < under_test->options.group_count; i++) {
        oracle_seat *seat = world_seat(under_test, node, i);
        if (seat != NULL) leave_seat(under_test, node, seat);
    }
    forget_places(under_test, node);
    under_test->applications.items[node].closing = true;
    qsm_engine_close(qsm_sim_engine(under_test->sim, node),
                     qsm_sim_node_now_ns(under_test->sim, node));
}

void world_freeze(world *under_test, uint32_t node, uint64_t duration_ns) {
    if (qsm_sim_freeze(under_test->sim, node, duration_ns) != QSM_OK) return;
    world_tell(under_test, "node %u freezes for %.3f s", node, (double)duration_ns / 1e9);
    const uint64_t until_ns = world_now_ns(under_test) + duration_ns;
    if (until_ns > under_test->frozen_until_ns) under_test->frozen_until_ns = until_ns;
}

int world_health(world *under_test, uint32_t node) {
    const qsm_engine *engine = qsm_sim_engine(under_test->sim, node);
    return engine == NULL ? QSM_HEALTH_CLOSED : qsm_engine_health(engine);
}

uint32_t world_health_count(const world *under_test, uint32_t node, int health) {
    assert(health >= 0 && health < HEALTH_COUNT);
    return under_test->applications.items[node].health_counts[health];
}

static uint32_t counter_index(const char *name) {
    for (uint32_t i = 0; i < qsm_counter_count(); i++) {
        if (strcmp(qsm_counter_name(i), name) == 0) return i;
    }
    fprintf(stderr, "the engine has no counter %s\n", name);
    abort();
}

uint64_t world_counter(world *under_test, uint32_t node, const char *name) {
    uint64_t values[256] = {0};
    const qsm_engine *engine = qsm_sim_engine(under_test->sim, node);
    if (engine == NULL) return 0;
    (void)qsm_engine_counters(engine, values, 256);
    return values[counter_index(name)];
}

uint64_t world_counter_sum(world *under_test, const char *name) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        sum += world_counter(under_test, i, name);
    }
    return sum;
}

void world_print_trace(world *under_test, uint32_t node) {
    static char text[1 << 15];
    const qsm_engine *engine = qsm_sim_engine(under_test->sim, node);
    if (engine == NULL) return;
    text[qsm_engine_trace_text(engine, text, sizeof text - 1)] = '\0';
    printf("-- node %u (id %016" PRIx64 "), last of its trace:\n%s   ", node,
           qsm_engine_node(engine), text);
    uint64_t values[256] = {0};
    (void)qsm_engine_counters(engine, values, 256);
    for (uint32_t i = 0; i < qsm_counter_count() && i < 256; i++) {
        if (values[i] != 0) printf(" %s %" PRIu64, qsm_counter_name(i), values[i]);
    }
    putchar('\n');
    qsm_region_info regions[64];
    const int count = qsm_engine_regions(engine, regions, 64);
    for (int i = 0; i < count && i < 64; i++) {
        printf("    region %016" PRIx64
               ": %u of %u alive, %u senders, %u packets unacknowledged%s%s\n",
               regions[i].region, regions[i].alive_count, regions[i].member_count,
               regions[i].sender_count, regions[i].unacknowledged_packets,
               regions[i].closing ? ", closing" : "", regions[i].member ? "" : ", not a member");
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

void world_join(world *under_test, uint32_t node, uint32_t group) {
    place *where = world_place(under_test, node, group);
    if (!world_is_up(under_test, node) || where->handle != NULL) return;
    uint8_t id[QSM_GROUP_ID_BYTES], key[QSM_KEY_BYTES];
    qsm_sim_random random = qsm_sim_random_of(group, 77);
    for (uint32_t i = 0; i < sizeof id; i++) {
        id[i] = (uint8_t)qsm_sim_random_next(&random);
    }
    for (uint32_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)qsm_sim_random_next(&random);
    }
    world_tell(under_test, "node %u joins group %u", node, group);
    oracle_seat *seat = oracle_joined(under_test->judge, node, group);
    const int result =
        qsm_group_join(qsm_sim_engine(under_test->sim, node), id, key, seat, &where->handle);
    if (result != QSM_OK) {
        oracle_left(seat);
        where->handle = NULL;
        oracle_fail(under_test->judge, "node %u could not join group %u: %s", node, group,
                    qsm_error_text(result));
        return;
    }
    where->seat = seat;
}

void world_join_all(world *under_test, uint32_t group) {
    for (uint32_t i = 0; i < world_node_count(under_test); i++) {
        world_join(under_test, i, group);
    }
}

void world_leave(world *under_test, uint32_t node, uint32_t group) {
    place *where = world_place(under_test, node, group);
    if (where->handle == NULL) return;
    world_tell(under_test, "node %u leaves group %u", node, group);
    leave_seat(under_test, node, where->seat);
    qsm_group_leave(where->handle);
    where->handle = NULL;
    where->seat = NULL;
    world_forgive(under_test, where);
}

/* ---- time ------------------------------------------------------------------------------------ */

void world_run(world *under_test, uint64_t duration_ns) {
    const uint64_t until_ns = world_now_ns(under_test) + duration_ns;
    while (world_failure(under_test) == NULL) {
        const uint64_t due_ns = qsm_sim_events_next_ns(&under_test->due);
        (void)qsm_sim_run_until(under_test->sim, due_ns < until_ns ? due_ns : until_ns);
        if (due_ns > until_ns) break;
        while (qsm_sim_events_next_ns(&under_test->due) <= world_now_ns(under_test)) {
            world_flow_on(under_test, qsm_sim_events_pop(&under_test->due).node);
        }
    }
}

/* Runs until that is so, at most so long. */
static bool run_until(world *under_test, bool (*is_so)(const world *), uint64_t limit_ns) {
    const uint64_t until_ns = world_now_ns(under_test) + limit_ns;
    while (world_failure(under_test) == NULL && !is_so(under_test)) {
        if (world_now_ns(under_test) >= until_ns) return false;
        world_run(under_test, SETTLE_STEP_NS);
    }
    return world_failure(under_test) == NULL;
}

static bool is_agreed(const world *under_test) {
    return oracle_is_agreed(under_test->judge);
}

static bool is_settled(const world *under_test) {
    return under_test->owed == 0 && oracle_is_settled(under_test->judge);
}

bool world_agree(world *under_test, uint64_t limit_ns) {
    return run_until(under_test, is_agreed, limit_ns);
}

bool world_settle(world *under_test, uint64_t limit_ns) {
    return run_until(under_test, is_settled, limit_ns);
}

/* ---- making and ending ----------------------------------------------------------------------- */

world *world_create(const world_options *options) {
    world *under_test = calloc(1, sizeof *under_test);
    if (under_test == NULL || qsm_sim_create(options->seed, &under_test->sim) != QSM_OK) abort();
    under_test->options = *options;
    under_test->judge = oracle_create();
    qsm_sim_set_link(under_test->sim, &options->link);
    qsm_sim_observe(under_test->sim, observe, under_test);
    for (uint32_t i = 0; i < options->node_count; i++) {
        (void)world_add_node(under_test, NULL);
    }
    return under_test;
}

void world_destroy(world *under_test) {
    if (under_test == NULL) return;
    qsm_sim_destroy(under_test->sim);
    oracle_destroy(under_test->judge);
    for (size_t i = 0; i < under_test->applications.count; i++) {
        free(under_test->applications.items[i].places);
    }
    VECTOR_FREE(&under_test->applications);
    VECTOR_FREE(&under_test->flows);
    free(under_test->due.items);
    free(under_test);
}
