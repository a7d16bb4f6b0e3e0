/*
 * policy_plan.c - regions as a text says: which groups belong together, found by somebody who has
 * seen more of the past than the membership service keeps.
 *
 * A plan speaks of groups, never of nodes, because nodes have another id after each start:
 *
 *     live-objects-plan 1
 *     # made from last month's opens
 *     group 00112233445566778899aabbccddeeff cluster sales-desk
 *     group 0f1e2d3c4b5a69788796a5b4c3d2e1f0 cluster sales-desk
 *     group ffeeddccbbaa99887766554433221100 hierarchy company
 *
 * `cluster`: groups that are opened together. All nodes in any of them are one region, so a node
 * receives what is sent in groups of the cluster that it has not joined; how much that is was the
 * planner's choice.
 * `hierarchy`: the same, but nodes are parted by which groups of the hierarchy they joined, so
 * that nothing is received in vain. It is meant for groups that nest.
 *
 * Groups that the plan does not name are parted by the exact set of such groups; a plan may name
 * groups that nobody has joined. A node is in one region for each cluster or hierarchy that it has
 * a part in.
 *
 * Form: ASCII lines, ended by LF or CR LF (the last one may lack it), words separated by one
 * space, at most PLAN_LINE_BYTES_MAX bytes long. Empty lines and lines that begin with # say
 * nothing. An id is 32 hexadecimal digits and may occur once; a name is 1 to 64 letters, digits,
 * '.', '_' or '-'. A cluster and a hierarchy of one name are two things. Everything else makes
 * the plan malformed as a whole.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "membership/policy_build.h"
#include "membership/policy_list.h"
#include "qsm.h"

#define PLAN_GROUPS_MAX (1u << 16)
#define PLAN_LINE_BYTES_MAX 160u
#define PLAN_NAME_BYTES_MAX 64u

static const char PLAN_FIRST_LINE[] = "live-objects-plan 1";

enum plan_kind { PLAN_CLUSTER, PLAN_HIERARCHY };

typedef struct {
    uint8_t id[QSM_GROUP_ID_BYTES];
    uint32_t line;
    uint32_t set; /* number of the cluster or hierarchy */
    uint8_t kind; /* enum plan_kind */
    uint8_t name_bytes;
    const char *name; /* in the text */
} plan_entry;

typedef struct {
    plan_entry *entries; /* by id, once parsed */
    uint32_t entry_count;
    uint32_t entry_capacity;
    uint32_t set_count;
} plan;

/* What is left of a line. */
typedef struct {
    const char *at;
    const char *end;
} plan_cursor;

static bool take_text(plan_cursor *cursor, const char *text) {
    size_t bytes = strlen(text);
    if ((size_t)(cursor->end - cursor->at) < bytes || memcmp(cursor->at, text, bytes) != 0)
        return false;
    cursor->at += bytes;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool take_id(plan_cursor *cursor, uint8_t *id) {
    if (cursor->end - cursor->at < 2 * QSM_GROUP_ID_BYTES) return false;
    for (int i = 0; i < QSM_GROUP_ID_BYTES; i++) {
        int high = hex_digit(*cursor->at++), low = hex_digit(*cursor->at++);
        if (high < 0 || low < 0) return false;
        id[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_name(const char *at, const char *end) {
    if (at == end || end - at > (ptrdiff_t)PLAN_NAME_BYTES_MAX) return false;
    for (; at < end; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        bool digit = *at >= '0' && *at <= '9';
        if (!letter && !digit && *at != '.' && *at != '_' && *at != '-') return false;
    }
    return true;
}

static bool parse_entry(plan_cursor cursor, plan_entry *entry) {
    if (!take_text(&cursor, "group ") || !take_id(&cursor, entry->id)) return false;
    if (take_text(&cursor, " cluster "))
        entry->kind = PLAN_CLUSTER;
    else if (take_text(&cursor, " hierarchy "))
        entry->kind = PLAN_HIERARCHY;
    else
        return false;
    if (!is_name(cursor.at, cursor.end)) return false;
    entry->name = cursor.at;
    entry->name_bytes = (uint8_t)(cursor.end - cursor.at);
    return true;
}

static int add_entry(plan *p, const plan_entry *entry) {
    if (p->entry_count == PLAN_GROUPS_MAX) return QSM_ERR_PLAN;
    if (p->entry_count == p->entry_capacity) {
        uint32_t capacity = 2 * p->entry_capacity + 64;
        plan_entry *grown = realloc(p->entries, capacity * sizeof *grown);
        if (!grown) return QSM_ERR_NO_MEMORY;
        p->entries = grown;
        p->entry_capacity = capacity;
    }
    p->entries[p->entry_count++] = *entry;
    return QSM_OK;
}

/* The line at the cursor, without its end; the cursor moves to the next one. False when it is too
 * long or has bytes that are not printable ASCII. */
static bool take_line(plan_cursor *text, plan_cursor *line) {
    line->at = text->at;
    while (text->at < text->end && *text->at != '\n') {
        if ((size_t)(text->at - line->at) > PLAN_LINE_BYTES_MAX) return false;
        text->at++;
    }
    line->end = text->at;
    if (text->at < text->end) text->at++;
    if (line->end > line->at && line->end[-1] == '\r') line->end--;
    if ((size_t)(line->end - line->at) > PLAN_LINE_BYTES_MAX) return false;
    for (const char *c = line->at; c < line->end; c++)
        if (*c < 0x20 || *c > 0x7e) return false;
    return true;
}

static int compare_ids(const void *a, const void *b) {
    const plan_entry *x = a, *y = b;
    int order = memcmp(x->id, y->id, sizeof x->id);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int compare_names(const plan_entry *x, const plan_entry *y) {
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    uint8_t shorter = x->name_bytes < y->name_bytes ? x->name_bytes : y->name_bytes;
    int order = memcmp(x->name, y->name, shorter);
    return order ? order : (x->name_bytes > y->name_bytes) - (x->name_bytes < y->name_bytes);
}

static int compare_sets(const void *a, const void *b) {
    const plan_entry *x = a, *y = b;
    int order = compare_names(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Numbers the clusters and hierarchies, sorts entries by id and finds the first repeated id. */
static int finish_entries(plan *p, uint32_t *fault_line) {
    if (p->entry_count == 0) return QSM_OK;
    qsort(p->entries, p->entry_count, sizeof *p->entries, compare_sets);
    for (uint32_t i = 0; i < p->entry_count; i++) {
        if (i == 0 || compare_names(&p->entries[i - 1], &p->entries[i]) != 0) p->set_count++;
        p->entries[i].set = p->set_count - 1;
    }
    qsort(p->entries, p->entry_count, sizeof *p->entries, compare_ids);
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 1; i < p->entry_count; i++) {
        const plan_entry *entry = &p->entries[i];
        if (memcmp(entry[-1].id, entry->id, sizeof entry->id) == 0 && entry->line < first)
            first = entry->line;
    }
    if (first == UINT32_MAX) return QSM_OK;
    *fault_line = first;
    return QSM_ERR_PLAN;
}

/* Fills `p`, which the caller frees in any case. */
static int parse_plan(const char *text, uint32_t bytes, plan *p, uint32_t *fault_line) {
    memset(p, 0, sizeof *p);
    *fault_line = 1;
    if (!text || bytes == 0 || bytes > QSM_PLAN_BYTES_MAX) return QSM_ERR_PLAN;
    plan_cursor rest = {text, text + bytes}, line;
    if (!take_line(&rest, &line) || !take_text(&line, PLAN_FIRST_LINE) || line.at != line.end)
        return QSM_ERR_PLAN;
    for (uint32_t number = 2; rest.at < rest.end; number++) {
        *fault_line = number;
        plan_entry entry = {.line = number};
        if (!take_line(&rest, &line)) return QSM_ERR_PLAN;
        if (line.at == line.end || *line.at == '#') continue;
        if (!parse_entry(line, &entry)) return QSM_ERR_PLAN;
        int status = add_entry(p, &entry);
        if (status != QSM_OK) return status;
    }
    int status = finish_entries(p, fault_line);
    if (status == QSM_OK) *fault_line = 0;
    return status;
}

int qsm_policy_plan_check(const char *text, uint32_t bytes, uint32_t *fault_line) {
    plan p;
    uint32_t line;
    int status = parse_plan(text, bytes, &p, &line);
    free(p.entries);
    if (fault_line) *fault_line = line;
    return status;
}

/* The number of the cluster or hierarchy of a group; set_count when the plan does not name it. */
static uint32_t find_set(const plan *p, const uint8_t *id, uint8_t *kind) {
    uint32_t low = 0, high = p->entry_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = memcmp(p->entries[middle].id, id, QSM_GROUP_ID_BYTES);
        if (order == 0) {
            *kind = p->entries[middle].kind;
            return p->entries[middle].set;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *kind = PLAN_HIERARCHY;
    return p->set_count;
}

typedef struct {
    uint32_t *labels;
    uint32_t *set_of; /* group -> set; the last set holds what the plan does not name */
    uint32_t *starts; /* groups of set s: listed[starts[s]] .. listed[starts[s + 1] - 1] */
    uint32_t *listed;
    uint8_t *kinds; /* set -> enum plan_kind */
} plan_layers;

static int begin_layers(const qsm_policy_input *input, const plan *p, plan_layers *layers) {
    layers->labels = qsm_policy_alloc(input->node_count, sizeof(uint32_t));
    layers->set_of = qsm_policy_alloc(input->group_count, sizeof(uint32_t));
    layers->listed = qsm_policy_alloc(input->group_count, sizeof(uint32_t));
    layers->starts = qsm_policy_alloc((size_t)p->set_count + 3, sizeof(uint32_t));
    layers->kinds = qsm_policy_alloc((size_t)p->set_count + 1, sizeof(uint8_t));
    if (!layers->labels || !layers->set_of || !layers->listed || !layers->starts || !layers->kinds)
        return QSM_ERR_NO_MEMORY;
    for (uint32_t g = 0; g < input->group_count; g++) {
        uint8_t kind;
        uint32_t set = find_set(p, p->entry_count ? input->group_ids[g] : NULL, &kind);
        layers->set_of[g] = set;
        layers->kinds[set] = kind;
        layers->starts[set + 2]++;
    }
    for (uint32_t set = 0; set <= p->set_count; set++)
        layers->starts[set + 2] += layers->starts[set + 1];
    for (uint32_t g = 0; g < input->group_count; g++)
        layers->listed[layers->starts[layers->set_of[g] + 1]++] = g;
    return QSM_OK;
}

static void end_layers(plan_layers *layers) {
    free(layers->labels);
    free(layers->set_of);
    free(layers->listed);
    free(layers->starts);
    free(layers->kinds);
}

/* The same label for all who are in any of the groups. */
static void label_together(const qsm_policy_build *build, const uint32_t *groups,
                           uint32_t group_count, uint32_t *labels) {
    for (uint32_t n = 0; n < build->input->node_count; n++)
        labels[n] = QSM_POLICY_NONE;
    for (uint32_t i = 0; i < group_count; i++)
        for (size_t m = build->starts[groups[i]]; m < build->starts[groups[i] + 1]; m++)
            labels[build->members[m]] = 0;
}

static int build_plan(qsm_policy_build *build, const plan *p) {
    plan_layers layers = {0};
    int status = begin_layers(build->input, p, &layers);
    for (uint32_t set = 0; set <= p->set_count && status == QSM_OK; set++) {
        const uint32_t *groups = layers.listed + layers.starts[set];
        uint32_t group_count = layers.starts[set + 1] - layers.starts[set];
        if (group_count == 0) continue;
        if (layers.kinds[set] == PLAN_CLUSTER)
            label_together(build, groups, group_count, layers.labels);
        else
            status = qsm_policy_label_exact(build, groups, group_count, layers.labels);
        if (status == QSM_OK)
            status = qsm_policy_build_layer(build, layers.labels, groups, group_count);
    }
    end_layers(&layers);
    return status;
}

int qsm_policy_plan(const qsm_policy_input *input, qsm_policy_result *result) {
    plan p;
    uint32_t fault_line;
    qsm_policy_build build;
    int status = qsm_policy_build_begin(&build, input, result);
    int parsed = parse_plan(input->plan, input->plan_bytes, &p, &fault_line);
    if (parsed == QSM_ERR_NO_MEMORY) status = parsed;
    if (parsed == QSM_ERR_PLAN) p.entry_count = p.set_count = 0; /* as good as no plan */
    assert(input->group_ids || p.entry_count == 0);
    if (status == QSM_OK) status = build_plan(&build, &p);
    free(p.entries);
    return qsm_policy_build_end(&build, status);
}
