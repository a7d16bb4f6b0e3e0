/* test_scenario_path.c - paths that carry less than interfaces say: longer datagrams are lost, and
 * nobody is told. */
#include "scenario.h"

enum { PATH_BYTES = 1252 }; /* frames of 1294 bytes, less headers of Ethernet, IP and UDP */

static uint64_t evictions(world *all) {
    return world_counter_sum(all, "evicted") + world_counter_sum(all, "hosted_evictions");
}

static void shorten(world *all, const world_options *options, uint32_t bytes) {
    qsm_sim_link link = options->link;
    link.datagram_bytes_max = bytes;
    qsm_sim_set_link(world_sim(all), &link);
}

/* As somebody pastes: messages of up to 16 kB, one after the other. */
static void paste(world *all, uint32_t node, uint32_t bytes) {
    world_pour(all, node, 0, 16000, (bytes + 15999) / 16000);
}

/* The node knows of so many short paths, and what they carry. */
static void check_exact(world *all, uint32_t node, int count) {
    qsm_short_path paths[8];
    const int found = qsm_engine_short_paths(qsm_sim_engine(world_sim(all), node), paths, 8);
    CHECK_SAY(found == count, "%d short paths", found);
    for (int i = 0; i < found; i++)
        CHECK_SAY(paths[i].bytes <= PATH_BYTES && paths[i].bytes + 4 >= PATH_BYTES, "%u bytes",
                  paths[i].bytes);
}

static void a_paste_arrives_over_paths_that_carry_less(void) {
    for (uint32_t kilobytes = 48; kilobytes <= 200; kilobytes += 152) {
        for (uint64_t seed = 500; seed < 504; seed++) {
            world_options options = scenario_options(seed, 4, 1);
            world *all = scenario_begin(&options);
            shorten(all, &options, PATH_BYTES);
            paste(all, 1, kilobytes * 1000);
            const uint64_t took_ns = scenario_settle(all, 4 * WORLD_S, "the paste has arrived");
            CHECK_SAY(evictions(all) == 0, "%" PRIu64 " were put out", evictions(all));
            if (seed == 500)
                scenario_figure("%u kB everywhere after %.0f ms", kilobytes, (double)took_ns / 1e6);
            world_run(all, 3 * WORLD_S);
            check_exact(all, 1, 3);
            /* What comes later is made so that it fits. */
            const uint64_t repairs = scenario_repairs_made(all);
            paste(all, 1, kilobytes * 1000);
            (void)scenario_settle(all, 4 * WORLD_S, "the second paste has arrived");
            CHECK_SAY(scenario_repairs_made(all) == repairs, "%" PRIu64 " repairs",
                      scenario_repairs_made(all) - repairs);
            scenario_end(all);
        }
    }
}

static void losses_besides_put_nobody_out(void) {
    for (uint64_t seed = 510; seed < 514; seed++) {
        world_options options = scenario_options(seed, 6, 1);
        options.link.loss_ppm = 50000;
        world *all = scenario_begin(&options);
        shorten(all, &options, PATH_BYTES);
        for (uint32_t i = 0; i < 6; i++)
            paste(all, i, 100000);
        (void)scenario_settle(all, 20 * WORLD_S, "everybody's paste has arrived");
        CHECK_SAY(evictions(all) == 0, "%" PRIu64 " were put out", evictions(all));
        scenario_end(all);
    }
}

/* One member is behind a tunnel: the others still hear what it says, and it hears them. */
static void one_member_behind_a_tunnel_gets_everything(void) {
    world_options options = scenario_options(520, 5, 1);
    world *all = scenario_begin(&options);
    qsm_sim_link tunnel = options.link;
    tunnel.datagram_bytes_max = PATH_BYTES;
    for (uint32_t i = 0; i < 4; i++) {
        (void)qsm_sim_set_link_between(world_sim(all), i, 4, &tunnel);
        (void)qsm_sim_set_link_between(world_sim(all), 4, i, &tunnel);
    }
    for (uint32_t i = 0; i < 5; i++)
        paste(all, i, 100000);
    (void)scenario_settle(all, 10 * WORLD_S, "everybody's paste has arrived");
    world_run(all, WORLD_S);
    CHECK_SAY(evictions(all) == 0, "%" PRIu64 " were put out", evictions(all));
    CHECK(world_counter(all, 4, "short_paths_now") == 4);
    CHECK(world_counter(all, 0, "short_paths_now") == 1);
    scenario_end(all);
}

static void longer_packets_are_sent_again_when_the_path_carries_them(void) {
    world_options options = scenario_options(530, 4, 1);
    world *all = scenario_begin(&options);
    shorten(all, &options, PATH_BYTES);
    paste(all, 0, 48000);
    (void)scenario_settle(all, 4 * WORLD_S, "the paste has arrived");
    world_run(all, WORLD_S);
    CHECK(world_counter_sum(all, "short_paths_now") > 0);
    shorten(all, &options, 0);
    world_run(all, 30 * WORLD_S);
    CHECK_SAY(world_counter_sum(all, "short_paths_now") == 0, "%" PRIu64 " paths stay short",
              world_counter_sum(all, "short_paths_now"));
    scenario_end(all);
}

/* A sender dies before anybody has what it sent: the survivors agree, and go on. */
static void survivors_agree_on_what_a_dead_sender_left(void) {
    for (uint64_t seed = 540; seed < 548; seed++) {
        world_options options = scenario_options(seed, 5, 1);
        world *all = scenario_begin(&options);
        shorten(all, &options, PATH_BYTES);
        paste(all, 2, 100000);
        world_run(all, (seed - 539) * 40 * WORLD_MS);
        world_crash(all, 2);
        paste(all, 3, 48000);
        (void)scenario_settle(all, 20 * WORLD_S, "the survivors have settled");
        scenario_end(all);
    }
}

/* Somebody wants to know before anything long was sent. */
static void paths_are_probed_when_asked_for(void) {
    world_options options = scenario_options(560, 4, 1);
    world *all = scenario_begin(&options);
    shorten(all, &options, PATH_BYTES);
    qsm_engine_probe_paths(qsm_sim_engine(world_sim(all), 2));
    world_run(all, 4 * WORLD_S);
    check_exact(all, 2, 3);
    check_exact(all, 1, 0);
    scenario_end(all);
}

static void a_path_without_faults_is_never_probed(void) {
    world_options options = scenario_options(550, 4, 1);
    world *all = scenario_begin(&options);
    paste(all, 0, 2000000);
    (void)scenario_settle(all, 10 * WORLD_S, "the paste has arrived");
    CHECK(world_counter_sum(all, "probes_sent") == 0);
    CHECK(world_counter_sum(all, "parts_sent") == 0);
    scenario_end(all);
}

int main(void) {
    static const scenario scenarios[] = {
        SCENARIO(a_paste_arrives_over_paths_that_carry_less),
        SCENARIO(losses_besides_put_nobody_out),
        SCENARIO(one_member_behind_a_tunnel_gets_everything),
        SCENARIO(longer_packets_are_sent_again_when_the_path_carries_them),
        SCENARIO(survivors_agree_on_what_a_dead_sender_left),
        SCENARIO(paths_are_probed_when_asked_for),
        SCENARIO(a_path_without_faults_is_never_probed),
    };
    return SCENARIO_MAIN("test_scenario_path", scenarios);
}
