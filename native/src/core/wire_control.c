/*
 * wire_control.c - control packets of every kind. Their bodies are in wire_streams.c and
 * wire_members.c.
 */
#include <assert.h>

#include "core/wire_form.h"

static const qsm_wire_form *form_of(uint8_t kind) {
    assert(kind < QSM_KIND_COUNT);
    const qsm_wire_form *form = &qsm_wire_streams[kind];
    return form->read != NULL ? form : &qsm_wire_members[kind];
}

bool qsm_control_read(const qsm_header *header, const uint8_t *packet, uint32_t bytes,
                      qsm_control *control) {
    const qsm_wire_form *form = form_of(header->kind);
    if (form->read == NULL) return false;
    qsm_reader in = {.at = packet + QSM_HEADER_BYTES, .end = packet + bytes};
    control->side = form->about_region ? qsm_read32(&in) : 0;
    form->read(&in, control);
    return !in.failed && in.at == in.end;
}

uint32_t qsm_control_write(const qsm_scope_keys *keys, uint8_t kind, uint64_t sender,
                           uint32_t counter, const qsm_control *control, uint8_t *packet,
                           uint32_t bytes_max) {
    const qsm_wire_form *form = form_of(kind);
    assert(form->write != NULL);
    qsm_writer out = qsm_header_begin(packet, bytes_max, kind, sender, counter);
    if (form->about_region) qsm_write32(&out, control->side);
    form->write(&out, control);
    return qsm_header_finish(keys, &out);
}
