/* udp_groups.c - joining and leaving multicast groups; see udp_groups.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/udp_address.h"
#include "drivers/udp_groups.h"

/* Makes room for one more element; returns the array where it is now, NULL: no memory. */
static void *grow(void *array, uint32_t count, uint32_t *capacity, size_t element_bytes) {
    if (count < *capacity) return array;
    uint32_t larger = *capacity == 0 ? 8 : *capacity * 2;
    void *grown = realloc(array, larger * element_bytes);
    if (grown != NULL) *capacity = larger;
    return grown;
}

static int add_socket(udp_groups *groups, udp_error *error) {
    udp_socket *sockets = grow(groups->sockets, groups->socket_count, &groups->socket_capacity,
                               sizeof *groups->sockets);
    if (sockets == NULL)
        return udp_fail(error, QSM_ERR_NO_MEMORY, "%s", qsm_error_text(QSM_ERR_NO_MEMORY));
    groups->sockets = sockets;
    int result = udp_socket_open_multicast(&groups->options, &sockets[groups->socket_count], error);
    if (result != QSM_OK) return result;
    if (groups->own.family != QSM_FAMILY_NONE)
        udp_socket_spare(&sockets[groups->socket_count], &groups->own);
    groups->socket_count++;
    groups->generation++;
    return QSM_OK;
}

/* Joins on the first socket that has room. */
static int join_somewhere(udp_groups *groups, const qsm_address *group, uint32_t *socket,
                          udp_error *error) {
    const udp_interface *interface = groups->options.interface;
    for (*socket = 0; *socket < groups->socket_count; (*socket)++) {
        int result = udp_socket_join(&groups->sockets[*socket], interface, group, error);
        if (result != QSM_ERR_FULL) return result;
    }
    int result = add_socket(groups, error);
    if (result != QSM_OK) return result;
    udp_socket *added = &groups->sockets[*socket];
    result = udp_socket_join(added, interface, group, error);
    assert(result != QSM_ERR_FULL);
    if (result != QSM_OK) {
        udp_socket_close(added);
        groups->socket_count--;
        groups->generation++;
    }
    return result;
}

static int join(udp_groups *groups, const qsm_address *group, udp_error *error) {
    udp_membership *memberships = grow(groups->memberships, groups->membership_count,
                                       &groups->membership_capacity, sizeof *groups->memberships);
    if (memberships == NULL)
        return udp_fail(error, QSM_ERR_NO_MEMORY, "%s", qsm_error_text(QSM_ERR_NO_MEMORY));
    groups->memberships = memberships;
    udp_membership *added = &memberships[groups->membership_count];
    int result = join_somewhere(groups, group, &added->socket, error);
    if (result != QSM_OK) return result;
    added->group = *group;
    groups->membership_count++;
    return QSM_OK;
}

int udp_groups_open(udp_groups *groups, const udp_socket_options *options, const qsm_address *first,
                    udp_error *error) {
    memset(groups, 0, sizeof *groups);
    groups->options = *options;
    int result = join(groups, first, error);
    if (result != QSM_OK) udp_groups_close(groups);
    return result;
}

void udp_groups_close(udp_groups *groups) {
    for (uint32_t index = 0; index < groups->socket_count; index++)
        udp_socket_close(&groups->sockets[index]);
    free(groups->sockets);
    free(groups->memberships);
    memset(groups, 0, sizeof *groups);
}

void udp_groups_spare(udp_groups *groups, const qsm_address *own) {
    groups->own = *own;
    for (uint32_t index = 0; index < groups->socket_count; index++)
        udp_socket_spare(&groups->sockets[index], own);
}

static bool is_wanted(const qsm_address *group, const qsm_address *wanted, uint32_t count) {
    for (uint32_t index = 0; index < count; index++)
        if (udp_address_equal(group, &wanted[index])) return true;
    return false;
}

static bool is_joined(const udp_groups *groups, const qsm_address *group) {
    for (uint32_t index = 0; index < groups->membership_count; index++)
        if (udp_address_equal(group, &groups->memberships[index].group)) return true;
    return false;
}

int udp_groups_set(udp_groups *groups, const qsm_address *wanted, uint32_t count) {
    const udp_interface *interface = groups->options.interface;
    for (uint32_t index = groups->membership_count; index-- > 0;) {
        udp_membership *old = &groups->memberships[index];
        if (is_wanted(&old->group, wanted, count)) continue;
        udp_socket_leave(&groups->sockets[old->socket], interface, &old->group);
        *old = groups->memberships[--groups->membership_count];
    }
    int result = QSM_OK;
    for (uint32_t index = 0; index < count; index++) {
        udp_error nobody = {0};
        if (is_joined(groups, &wanted[index])) continue;
        int joined = join(groups, &wanted[index], &nobody);
        if (result == QSM_OK) result = joined;
    }
    return result;
}

int udp_groups_renew(udp_groups *groups) {
    const udp_interface *interface = groups->options.interface;
    int result = QSM_OK;
    for (uint32_t index = groups->membership_count; index-- > 0;) {
        udp_error nobody = {0};
        udp_membership *joined = &groups->memberships[index];
        udp_socket *socket = &groups->sockets[joined->socket];
        udp_socket_leave(socket, interface, &joined->group);
        int again = udp_socket_join(socket, interface, &joined->group, &nobody);
        if (again != QSM_OK) *joined = groups->memberships[--groups->membership_count];
        if (result == QSM_OK) result = again;
    }
    return result;
}
