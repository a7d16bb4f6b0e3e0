/* test_siphash.c - the packet's tag is what the library's SipHash gives when its place is zero. */
#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/siphash.h"

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
    printf("tags of 32 to %zu bytes agree\n", sizeof data);
    return 0;
}
