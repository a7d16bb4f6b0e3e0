/*
 * test_aes_gcm.c - our wide AES-256-GCM gives the bytes that the library gives, for every length
 * around the sizes at which it does something else, and notices every changed bit; published
 * vectors.
 */
#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/aes_gcm.h"

enum { BYTES_MAX = 1600 };

static void read_hex(uint8_t *out, size_t bytes, const char *text) {
    size_t got = 0;
    int bad = sodium_hex2bin(out, bytes, text, strlen(text), NULL, &got, NULL);
    assert(bad == 0 && got == bytes);
    (void)bad;
}

/* Test cases 13, 14 and 15 of the GCM specification: AES-256, a nonce of 96 bits, nothing
 * associated. */
static void test_published_vectors(enum qsm_aes_kind kind) {
    static const struct {
        const char *key, *nonce, *plain, *sealed, *tag;
    } cases[] = {{"0000000000000000000000000000000000000000000000000000000000000000",
                  "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
                 {"0000000000000000000000000000000000000000000000000000000000000000",
                  "000000000000000000000000", "00000000000000000000000000000000",
                  "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
                 {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
                  "cafebabefacedbaddecaf888",
                  "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
                  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
                  "b094dac5d93471bdec1a502270e3cc6c"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t secret[32], nonce[12], plain[64], sealed[64], tag[16], got[64], got_tag[16];
        uint32_t bytes = (uint32_t)strlen(cases[i].plain) / 2;
        read_hex(secret, sizeof secret, cases[i].key);
        read_hex(nonce, sizeof nonce, cases[i].nonce);
        read_hex(plain, bytes, cases[i].plain);
        read_hex(sealed, bytes, cases[i].sealed);
        read_hex(tag, sizeof tag, cases[i].tag);
        qsm_aes_key key;
        qsm_aes_expand(kind, &key, secret);
        qsm_aes_seal(kind, &key, nonce, plain, bytes, got, got_tag);
        assert(memcmp(got, sealed, bytes) == 0 && memcmp(got_tag, tag, 16) == 0);
        assert(qsm_aes_open(kind, &key, nonce, sealed, bytes, tag, got));
        assert(memcmp(got, plain, bytes) == 0);
    }
}

static void test_equal_to_library(enum qsm_aes_kind kind) {
    static uint8_t plain[BYTES_MAX + 1], ours[BYTES_MAX + 1], theirs[BYTES_MAX],
        back[BYTES_MAX + 1];
    for (uint32_t bytes = 0; bytes <= BYTES_MAX; bytes += bytes < 1100 ? 1 : 37) {
        uint8_t secret[32], nonce[12], tag[16], their_tag[16];
        randombytes_buf_deterministic(plain, sizeof plain, (const uint8_t[32]){(uint8_t)bytes, 1});
        randombytes_buf(secret, sizeof secret);
        randombytes_buf(nonce, sizeof nonce);
        qsm_aes_key key, library;
        qsm_aes_expand(kind, &key, secret);
        qsm_aes_expand(QSM_AES_LIBRARY, &library, secret);
        ours[bytes] = back[bytes] = 0xa5; /* nothing is written behind the end */
        qsm_aes_seal(kind, &key, nonce, plain, bytes, ours, tag);
        qsm_aes_seal(QSM_AES_LIBRARY, &library, nonce, plain, bytes, theirs, their_tag);
        assert(memcmp(ours, theirs, bytes) == 0 && memcmp(tag, their_tag, 16) == 0);
        assert(qsm_aes_open(kind, &key, nonce, ours, bytes, tag, back));
        assert(memcmp(back, plain, bytes) == 0);
        assert(ours[bytes] == 0xa5 && back[bytes] == 0xa5);
        memcpy(back, plain, bytes); /* in place */
        qsm_aes_seal(kind, &key, nonce, back, bytes, back, tag);
        assert(memcmp(back, ours, bytes) == 0 && memcmp(tag, their_tag, 16) == 0);
    }
}

static void test_every_changed_bit_is_noticed(enum qsm_aes_kind kind) {
    uint8_t secret[32] = {7}, nonce[12] = {1}, plain[333], sealed[333], tag[16], back[333];
    memset(plain, 0x5a, sizeof plain);
    qsm_aes_key key;
    qsm_aes_expand(kind, &key, secret);
    qsm_aes_seal(kind, &key, nonce, plain, sizeof plain, sealed, tag);
    for (uint32_t bit = 0; bit < 8 * sizeof sealed; bit++) {
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert(!qsm_aes_open(kind, &key, nonce, sealed, sizeof sealed, tag, back));
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (uint32_t bit = 0; bit < 8 * sizeof tag; bit++) {
        tag[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert(!qsm_aes_open(kind, &key, nonce, sealed, sizeof sealed, tag, back));
        tag[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (uint32_t bit = 0; bit < 8 * sizeof nonce; bit++) {
        nonce[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert(!qsm_aes_open(kind, &key, nonce, sealed, sizeof sealed, tag, back));
        nonce[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert(!qsm_aes_open(kind, &key, nonce, sealed, sizeof sealed - 1, tag, back));
    assert(qsm_aes_open(kind, &key, nonce, sealed, sizeof sealed, tag, back));
}

int main(void) {
    assert(sodium_init() >= 0);
    enum qsm_aes_kind best = qsm_aes_best();
    if (best == QSM_AES_NONE) {
        printf("this processor has no AES instructions: nothing to compare\n");
        return 0;
    }
    for (enum qsm_aes_kind kind = QSM_AES_LIBRARY; kind <= best; kind++) {
        test_published_vectors(kind);
        test_equal_to_library(kind);
        test_every_changed_bit_is_noticed(kind);
    }
    printf("AES-256-GCM: kind %d agrees with the library\n", (int)best);
    return 0;
}
