/* test_siphash.c - the packet's tag is what the library's SipHash gives when its place is zero. */
#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/siphash.h"
#include "core/siphash_wide.h"

#if QSM_SIP_HAS_WIDE
static void test_eight_at_once(const uint8_t key[16]) {
    static uint8_t data[QSM_SIP_LANES][300];
    const uint8_t *packets[QSM_SIP_LANES];
    if (!qsm_sip_wide_is_here()) return;
    randombytes_buf(data, sizeof data);
    for (uint32_t lane = 0; lane < QSM_SIP_LANES; lane++)
        packets[lane] = data[lane];
    for (uint32_t bytes = 32; bytes <= 300; bytes++) {
        uint8_t together[QSM_SIP_LANES][16], alone[16];
        qsm_sip_wide_packets(key, packets, bytes, together);
        for (uint32_t lane = 0; lane < QSM_SIP_LANES; lane++) {
            qsm_sip_packet(key, data[lane], bytes, alone);
            assert(memcmp(together[lane], alone, 16) == 0);
        }
    }
}
#else
static void test_eight_at_once(const uint8_t key[16]) {
    (void)key;
}
#endif

int main(void) {
    uint8_t key[16], data[300], copy[300], ours[16], theirs[16];
    assert(sodium_init() >= 0);
    randombytes_buf(key, sizeof key);
    randombytes_buf(data, sizeof data);
    for (uint32_t bytes = 32; bytes <= sizeof data; bytes++) {
        memcpy(copy, data, bytes);
        memset(copy + 16, 0, 16);
        crypto_shorthash_siphashx24(theirs, copy, bytes, key);
        qsm_sip_packet(key, data, bytes, ours);
        assert(memcmp(ours, theirs, sizeof ours) == 0);
    }
    test_eight_at_once(key);
    printf("tags of 32 to %zu bytes agree\n", sizeof data);
    return 0;
}
