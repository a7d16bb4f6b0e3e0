/*
 * wire_form.h - the bodies of control packets: how each kind is read and checked, and written.
 */
#ifndef QSM_CORE_WIRE_FORM_H
#define QSM_CORE_WIRE_FORM_H

#include "core/wire.h"

typedef struct {
    void (*read)(qsm_reader *in, qsm_control *control);
    void (*write)(qsm_writer *out, const qsm_control *control);
    bool about_region; /* depends on who counts as alive there, and says whose opinion that is */
} qsm_wire_form;

/* By kind; empty for kinds of the other table, and for those that are no control packets. */
extern const qsm_wire_form qsm_wire_streams[QSM_KIND_COUNT];
extern const qsm_wire_form qsm_wire_members[QSM_KIND_COUNT];

#endif
