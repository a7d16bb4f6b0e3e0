/*
 * text.c - sentences for codes.
 */
#include "core/counters.h"
#include "qsm.h"

const char *qsm_error_text(int result) {
    switch (result) {
    case QSM_OK: return "It worked.";
    case QSM_ERR_ARGUMENT: return "An argument is out of its bounds.";
    case QSM_ERR_NO_MEMORY: return "There is not enough memory.";
    case QSM_ERR_FULL: return "The queue is full; wait until it has room.";
    case QSM_ERR_NOT_FOUND: return "There is no such thing.";
    case QSM_ERR_EXISTS: return "The group has been joined already.";
    case QSM_ERR_TOO_LARGE: return "The message is too long.";
    case QSM_ERR_CLOSED: return "The engine has been closed.";
    case QSM_ERR_PORT_IN_USE: return "Another program uses the port.";
    case QSM_ERR_NO_INTERFACE: return "There is no such network interface, or it is down.";
    case QSM_ERR_NO_MULTICAST: return "The network interface cannot do multicast.";
    case QSM_ERR_PERMISSION: return "The system does not permit it.";
    case QSM_ERR_SYSTEM: return "The system refused.";
    case QSM_ERR_PLAN: return "The region plan is malformed.";
    default: return "Unknown error.";
    }
}

const char *qsm_reason_text(int reason) {
    switch (reason) {
    case QSM_REASON_NONE: return "no reason given";
    case QSM_REASON_STARTED: return "the engine has started";
    case QSM_REASON_FOUND_HOST: return "a host has answered";
    case QSM_REASON_NOBODY_ANSWERED: return "nobody else hosts the scope";
    case QSM_REASON_ADMITTED: return "the host has admitted this node";
    case QSM_REASON_HOST_SILENT: return "the host does not answer any more";
    case QSM_REASON_HOST_MERGED: return "the host has handed over to another one";
    case QSM_REASON_EVICTED_SILENT: return "this node was put out because it had not been heard of";
    case QSM_REASON_EVICTED_SLOW: return "this node was put out because it could not keep up";
    case QSM_REASON_SLEPT: return "this program was stopped for a while, others may have gone on";
    case QSM_REASON_CLOSING: return "the engine is being closed";
    case QSM_REASON_RESUMED: return "this machine was resumed from a snapshot";
    default: return "unknown reason";
    }
}

const char *qsm_health_text(int health) {
    switch (health) {
    case QSM_HEALTH_SEARCHING: return "searching";
    case QSM_HEALTH_JOINING: return "joining";
    case QSM_HEALTH_MEMBER: return "member";
    case QSM_HEALTH_HOST: return "host";
    case QSM_HEALTH_SUSPENDED: return "suspended";
    case QSM_HEALTH_CLOSED: return "closed";
    default: return "unknown";
    }
}

static const char *const COUNTER_NAMES[QSM_COUNTER_COUNT] = {
#define QSM_COUNTER_NAME(name) #name,
    QSM_COUNTERS(QSM_COUNTER_NAME)
#undef QSM_COUNTER_NAME
};

uint32_t qsm_counter_count(void) {
    return QSM_COUNTER_COUNT;
}

const char *qsm_counter_name(uint32_t index) {
    return index < QSM_COUNTER_COUNT ? COUNTER_NAMES[index] : NULL;
}
