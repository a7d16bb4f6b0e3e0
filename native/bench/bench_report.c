#include "bench_report.h"

#include <stdio.h>

#include "bench_support.h"

static uint64_t counted(const report *told, const char *name) {
    uint32_t counter = bench_counter(name);
    return told->counters[1][counter] - told->counters[0][counter];
}

static uint64_t counted_by_all(const common *shared, const options *chosen, const char *name) {
    uint64_t sum = 0;
    for (uint32_t index = 0; index <= chosen->receivers; index++)
        sum += counted(&shared->members[index], name);
    return sum;
}

static void print_counters(const common *shared, const options *chosen) {
    static const char *const names[] = {"packets_sent",      "packets_lost",    "repairs_sent",
                                        "repairs_received",  "repairs_pushed",  "data_duplicate",
                                        "data_receive_full", "tokens_launched", "acks_received",
                                        "window_full",       "rate_decreases",  "datagrams_sent",
                                        "bytes_sent",        "evicted",         "suspensions"};
    printf(", \"counters\": {");
    for (size_t index = 0; index < sizeof names / sizeof *names; index++)
        printf("%s\"%s\": %llu", index ? ", " : "", names[index],
               (unsigned long long)counted_by_all(shared, chosen, names[index]));
    printf("}");
}

/* Within the measured time, of each receiver. */
static void print_deliveries(const common *shared, const options *chosen) {
    printf(", \"delivered\": [");
    for (uint32_t index = 0; index < chosen->receivers; index++)
        printf("%s%llu", index ? ", " : "",
               (unsigned long long)counted(&shared->members[index], "messages_delivered"));
    printf("]");
}

/* By second of the measured time, of the receiver that was latest, and of the sender. */
static void print_alarms(const common *shared, const options *chosen) {
    uint32_t receivers = (uint32_t)chosen->receivers;
    const report *sender = &shared->members[receivers];
    printf(", \"alarm_delays_ms\": [");
    for (uint32_t second = 0, told = 0; second < SECONDS_MAX; second++) {
        uint64_t latest_ns = 0;
        for (uint32_t index = 0; index < receivers; index++)
            if (shared->members[index].alarm_delay_ns[second] > latest_ns)
                latest_ns = shared->members[index].alarm_delay_ns[second];
        if (latest_ns == 0 && sender->alarm_delay_ns[second] == 0) continue;
        printf("%s[%.3f, %.3f]", told++ ? ", " : "", (double)latest_ns * 1e-6,
               (double)sender->alarm_delay_ns[second] * 1e-6);
    }
    printf("]");
}

static void print_bins(const common *shared, const options *chosen) {
    printf(", \"bins\": [");
    for (uint32_t index = 0; index < chosen->receivers; index++) {
        const report *told = &shared->members[index];
        printf("%s[", index ? ", " : "");
        for (uint32_t bin = 0; bin < told->bin_count; bin++)
            printf("%s%u", bin ? ", " : "", told->bins[bin]);
        printf("]");
    }
    printf("]");
}

void bench_report(common *shared, const options *chosen, const outcome *result) {
    uint64_t joined_ns = 0, heap_bytes = 0, host_bytes = 0, wrong = 0, rss_bytes = 0, cpu_ns = 0,
             drops = 0, stall_ns = 0;
    const bench_looks *looks = &result->looks;
    uint32_t p50_ns = 0, p99_ns = 0;
    for (uint32_t index = 0; index <= chosen->receivers; index++) {
        report *told = &shared->members[index];
        uint32_t p50 = bench_quantile(told->samples_ns, told->sample_count, 500);
        uint32_t p99 = bench_quantile(told->samples_ns, told->sample_count, 990);
        if (told->joined_ns > joined_ns) joined_ns = told->joined_ns;
        bool hosts = index == (chosen->host_apart ? 0 : chosen->receivers);
        if (hosts) host_bytes = told->group_heap_bytes;
        if (index < chosen->receivers && !hosts && told->group_heap_bytes > heap_bytes)
            heap_bytes = told->group_heap_bytes;
        if (told->stall_ns > stall_ns && !atomic_load(&told->gone)) stall_ns = told->stall_ns;
        if (told->rss_bytes > rss_bytes) rss_bytes = told->rss_bytes;
        if (told->cpu_ns > cpu_ns) cpu_ns = told->cpu_ns;
        if (p50 > p50_ns) p50_ns = p50;
        if (p99 > p99_ns) p99_ns = p99;
        wrong += told->wrong_order;
        drops += told->kernel_drops;
    }
    double delivered = result->delivered > 0 ? (double)result->delivered : 1;
    double missing = (double)result->sent - (double)result->delivered_all;
    printf(
        "{\"bench\": \"engine_udp\", \"receivers\": %llu, \"groups\": %llu, \"bytes\": %llu, "
        "\"offload\": %s, \"rate\": %.0f, \"sent\": %llu, \"loss\": %.6f, \"wrong_order\": %llu, "
        "\"p50_us\": %.1f, \"p99_us\": %.1f, \"rss_mb\": %.1f, \"setup_s\": %.3f, "
        "\"group_bytes\": %.0f, \"sender_group_bytes\": %.0f, \"host_group_bytes\": %.0f, "
        "\"sender_us\": %.3f, \"receiver_us\": "
        "%.3f, "
        "\"sender_core\": %.5f, \"receiver_core\": %.5f, \"kernel_drops\": %llu, "
        "\"recovered_ms\": %.3f, \"stall_ms\": %.3f, \"ack_ms\": %.3f, \"pending\": %.1f, "
        "\"pending_most\": %llu, \"seconds\": %.3f",
        (unsigned long long)chosen->receivers, (unsigned long long)chosen->groups,
        (unsigned long long)chosen->bytes, chosen->no_offload ? "false" : "true",
        (double)result->delivered / result->seconds, (unsigned long long)result->sent,
        result->sent > 0 ? missing / (double)result->sent : 0.0, (unsigned long long)wrong,
        p50_ns * 1e-3, p99_ns * 1e-3, (double)rss_bytes / 1048576.0, (double)joined_ns * 1e-9,
        (double)heap_bytes / (double)chosen->groups,
        (double)shared->members[chosen->receivers].group_heap_bytes / (double)chosen->groups,
        (double)host_bytes / (double)chosen->groups, result->sender_cpu_s * 1e6 / delivered,
        (double)cpu_ns * 1e-3 / delivered, result->sender_cpu_s / result->seconds,
        (double)cpu_ns * 1e-9 / result->seconds, (unsigned long long)drops,
        (double)shared->members[0].recovered_ns * 1e-6, (double)stall_ns * 1e-6,
        bench_mean(looks->ack_ns, looks->acks) * 1e-6, bench_mean(looks->pending, looks->acks),
        (unsigned long long)looks->pending_most, result->seconds);
    print_deliveries(shared, chosen);
    print_counters(shared, chosen);
    if (chosen->alarms) print_alarms(shared, chosen);
    if (chosen->bins) print_bins(shared, chosen);
    printf("}\n");
}
