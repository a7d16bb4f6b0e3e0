#include "core/trace.h"

#include <stdio.h>

static const char *const TEXTS[QSM_TRACE_KIND_COUNT] = {
#define QSM_TRACE_TEXT(name, text) text,
    QSM_TRACES(QSM_TRACE_TEXT)
#undef QSM_TRACE_TEXT
};

void qsm_trace_add(qsm_trace *trace, uint64_t now_ns, uint32_t kind, uint64_t a, uint64_t b) {
    trace->records[trace->count++ % QSM_TRACE_RECORDS] =
        (qsm_trace_record){.at_ns = now_ns, .a = a, .b = b, .kind = kind};
    qsm_trace_mix(trace, kind ^ a ^ qsm_rotl64(b, 32) ^ qsm_rotl64(now_ns, 16));
}

uint32_t qsm_trace_write(const qsm_trace *trace, char *text, uint32_t bytes_max) {
    uint32_t used = 0;
    uint64_t first = trace->count > QSM_TRACE_RECORDS ? trace->count - QSM_TRACE_RECORDS : 0;
    if (bytes_max == 0) return 0;
    text[0] = 0;
    for (uint64_t i = first; i < trace->count; i++) {
        const qsm_trace_record *record = &trace->records[i % QSM_TRACE_RECORDS];
        char line[160];
        int at = snprintf(line, sizeof line, "%12.6f ", (double)record->at_ns / 1e9);
        at += snprintf(line + at, sizeof line - (size_t)at, TEXTS[record->kind],
                       (unsigned long long)record->a, (unsigned long long)record->b);
        if (used + (uint32_t)at + 2 > bytes_max) break;
        used += (uint32_t)snprintf(text + used, bytes_max - used, "%s\n", line);
    }
    return used;
}
