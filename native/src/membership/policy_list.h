/*
 * policy_list.h - the policies by name, from the list in qsm.h; everybody but policy.c and their
 * tests finds them by number.
 */
#ifndef QSM_MEMBERSHIP_POLICY_LIST_H
#define QSM_MEMBERSHIP_POLICY_LIST_H

#include "membership/policy.h"
#include "qsm.h"

/* Each policy of QSM_POLICIES as a function: qsm_policy_exact, and so on. */
#define QSM_POLICY_FUNCTION(NAME, name)                                                            \
    int qsm_policy_##name(const qsm_policy_input *input, qsm_policy_result *result);
QSM_POLICIES(QSM_POLICY_FUNCTION)
#undef QSM_POLICY_FUNCTION

#define QSM_POLICY_ONE_MORE(NAME, name) +1
enum { QSM_POLICY_COUNT = 0 QSM_POLICIES(QSM_POLICY_ONE_MORE) };
#undef QSM_POLICY_ONE_MORE

#endif
