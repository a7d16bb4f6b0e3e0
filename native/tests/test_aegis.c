/*
 * test_aegis.c - AEGIS-128X2: the published vectors, the same bytes from every kind of code as from
 * a plain one that is written here after the document, for every length around the sizes at which
 * it does something else, and every changed bit noticed.
 */
#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/aegis.h"

enum { BYTES_MAX = 1600, LANES = 2, BLOCK = 16, RATE = 2 * LANES * BLOCK };

/* ---- the plain one: bytes and nothing else, slow ---- */

static uint8_t doubled(uint8_t x) {
    return (uint8_t)((x << 1) ^ (x & 0x80 ? 0x1b : 0));
}

static uint8_t times(uint8_t x, uint8_t y) {
    uint8_t product = 0;
    for (; y; y >>= 1, x = doubled(x))
        if (y & 1) product ^= x;
    return product;
}

/* The inverse in AES's field, then its affine map. */
static uint8_t substitute(uint8_t x) {
    static uint8_t box[256];
    static bool made;
    for (int i = 0; !made && i < 256; i++) {
        uint8_t inverse = (uint8_t)i;
        for (int power = 0; power < 6; power++) /* i to the power of 254 */
            inverse = times(times(inverse, inverse), (uint8_t)i);
        inverse = times(inverse, inverse);
        uint8_t out = 0x63;
        for (int turn = 0; turn < 5; turn++)
            out ^= (uint8_t)((inverse << turn) | (inverse >> (8 - turn)));
        box[i] = out;
    }
    made = true;
    return box[x];
}

static void aes_round(uint8_t out[BLOCK], const uint8_t in[BLOCK], const uint8_t key[BLOCK]) {
    uint8_t moved[BLOCK];
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            moved[4 * column + row] = substitute(in[4 * ((column + row) % 4) + row]);
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            const uint8_t *c = moved + 4 * column;
            out[4 * column + row] =
                (uint8_t)(doubled(c[row]) ^ doubled(c[(row + 1) % 4]) ^ c[(row + 1) % 4] ^
                          c[(row + 2) % 4] ^ c[(row + 3) % 4] ^ key[4 * column + row]);
        }
}

typedef uint8_t state[LANES][8][BLOCK];

static void add(uint8_t out[BLOCK], const uint8_t other[BLOCK]) {
    for (int i = 0; i < BLOCK; i++)
        out[i] ^= other[i];
}

/* low, high: a block for each lane. */
static void update(state v, const uint8_t *low, const uint8_t *high) {
    for (int lane = 0; lane < LANES; lane++) {
        uint8_t next[8][BLOCK], keys[8][BLOCK];
        memcpy(keys, v[lane], sizeof keys);
        add(keys[0], low + BLOCK * lane);
        add(keys[4], high + BLOCK * lane);
        for (int i = 0; i < 8; i++)
            aes_round(next[i], v[lane][(i + 7) % 8], keys[i]);
        memcpy(v[lane], next, sizeof next);
    }
}

static void start(state v, const uint8_t key[BLOCK], const uint8_t nonce[BLOCK]) {
    uint8_t c[2][BLOCK] = {{0}}, keys[LANES * BLOCK], nonces[LANES * BLOCK];
    unsigned before = 0, now = 1; /* Fibonacci's numbers */
    for (int i = 0; i < 2 * BLOCK; i++) {
        c[i / BLOCK][i % BLOCK] = (uint8_t)before;
        unsigned sum = before + now;
        before = now;
        now = sum;
    }
    for (int lane = 0; lane < LANES; lane++) {
        const uint8_t *first[8] = {key, c[1], c[0], c[1], key, key, key, key};
        const uint8_t *second[8] = {nonce, NULL, NULL, NULL, nonce, c[0], c[1], c[0]};
        for (int i = 0; i < 8; i++) {
            memcpy(v[lane][i], first[i], BLOCK);
            if (second[i] != NULL) add(v[lane][i], second[i]);
        }
        memcpy(keys + BLOCK * lane, key, BLOCK);
        memcpy(nonces + BLOCK * lane, nonce, BLOCK);
    }
    for (int round = 0; round < 10; round++) {
        for (int lane = 0; lane < LANES; lane++) {
            uint8_t context[BLOCK] = {(uint8_t)lane, LANES - 1};
            add(v[lane][3], context);
            add(v[lane][7], context);
        }
        update(v, nonces, keys);
    }
}

/* Masks a block of the message in place and absorbs what it was. */
static void take(state v, uint8_t block[RATE]) {
    uint8_t plain[RATE];
    memcpy(plain, block, RATE);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < BLOCK; i++) {
            block[BLOCK * lane + i] ^=
                v[lane][6][i] ^ v[lane][1][i] ^ (v[lane][2][i] & v[lane][3][i]);
            block[BLOCK * (LANES + lane) + i] ^=
                v[lane][2][i] ^ v[lane][5][i] ^ (v[lane][6][i] & v[lane][7][i]);
        }
    update(v, plain, plain + LANES * BLOCK);
}

static void plain_seal(const uint8_t *key, const uint8_t *nonce, const uint8_t *with,
                       uint32_t with_bytes, const uint8_t *plain, uint32_t bytes, uint8_t *sealed,
                       uint8_t tag[BLOCK]) {
    state v;
    start(v, key, nonce);
    for (uint32_t at = 0; at < with_bytes; at += RATE) {
        uint8_t block[RATE] = {0};
        memcpy(block, with + at, with_bytes - at < RATE ? with_bytes - at : RATE);
        update(v, block, block + LANES * BLOCK);
    }
    for (uint32_t at = 0; at < bytes; at += RATE) {
        uint8_t block[RATE] = {0};
        uint32_t part = bytes - at < RATE ? bytes - at : RATE;
        memcpy(block, plain + at, part);
        take(v, block);
        memcpy(sealed + at, block, part);
    }
    uint8_t last[LANES * BLOCK];
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t lengths[2] = {8ull * with_bytes, 8ull * bytes};
        for (int i = 0; i < BLOCK; i++)
            last[BLOCK * lane + i] = v[lane][2][i] ^ (uint8_t)(lengths[i / 8] >> (8 * (i % 8)));
    }
    for (int round = 0; round < 7; round++)
        update(v, last, last);
    memset(tag, 0, BLOCK);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 7; i++)
            add(tag, v[lane][i]);
}

/* ---- tests ---- */

static void read_hex(uint8_t *out, size_t bytes, const char *text) {
    size_t got = 0;
    int bad = sodium_hex2bin(out, bytes, text, strlen(text), NULL, &got, NULL);
    assert(bad == 0 && got == bytes);
    (void)bad;
}

/* The document's two vectors of AEGIS-128X2; only the plain code takes associated data. */
static void test_published_vectors(void) {
    uint8_t key[BLOCK], nonce[BLOCK], wanted_tag[BLOCK], tag[BLOCK], plain[120], sealed[120];
    read_hex(key, sizeof key, "000102030405060708090a0b0c0d0e0f");
    read_hex(nonce, sizeof nonce, "101112131415161718191a1b1c1d1e1f");
    read_hex(wanted_tag, sizeof wanted_tag, "63117dc57756e402819a82e13eca8379");
    plain_seal(key, nonce, NULL, 0, NULL, 0, sealed, tag);
    assert(memcmp(tag, wanted_tag, BLOCK) == 0);
    for (enum qsm_aegis_kind kind = QSM_AEGIS_NARROW; kind <= qsm_aegis_best(); kind++) {
        qsm_aegis_seal(kind, key, nonce, plain, 0, sealed, tag);
        assert(memcmp(tag, wanted_tag, BLOCK) == 0);
    }
    uint8_t with[] = {1, 2, 3, 4, 1, 2, 3, 4}, wanted[112];
    for (uint32_t i = 0; i < sizeof plain; i++)
        plain[i] = (uint8_t)(4 + i % 4);
    read_hex(wanted, sizeof wanted,
             "5795544301997f93621b278809d6331b3bfa6f18e90db12c4aa35965b5e98c5f"
             "c6fb4e54bcb6111842c20637252eff747cb3a8f85b37de80919a589fe0f24872"
             "bc926360696739e05520647e390989e1eb5fd42f99678a0276a498f8c454761c"
             "9d6aacb647ad56be62b29c22cd4b5761");
    read_hex(wanted_tag, sizeof wanted_tag, "1aebc200804f405cab637f2adebb6d77");
    plain_seal(key, nonce, with, sizeof with, plain, sizeof plain, sealed, tag);
    assert(memcmp(sealed, wanted, sizeof wanted) == 0);
    assert(memcmp(tag, wanted_tag, BLOCK) == 0);
}

static void test_equal_to_the_plain_one(enum qsm_aegis_kind kind) {
    static uint8_t plain[BYTES_MAX + 1], ours[BYTES_MAX + 1], theirs[BYTES_MAX],
        back[BYTES_MAX + 1];
    for (uint32_t bytes = 0; bytes <= BYTES_MAX; bytes += bytes < 300 ? 1 : 37) {
        uint8_t key[BLOCK], nonce[BLOCK], tag[BLOCK], their_tag[BLOCK];
        randombytes_buf(key, sizeof key);
        randombytes_buf(nonce, sizeof nonce);
        randombytes_buf(plain, sizeof plain);
        ours[bytes] = back[bytes] = 0x5a; /* behind the end: stays as it is */
        qsm_aegis_seal(kind, key, nonce, plain, bytes, ours, tag);
        plain_seal(key, nonce, NULL, 0, plain, bytes, theirs, their_tag);
        assert(memcmp(ours, theirs, bytes) == 0 && memcmp(tag, their_tag, BLOCK) == 0);
        assert(qsm_aegis_open(kind, key, nonce, ours, bytes, tag, back));
        assert(memcmp(back, plain, bytes) == 0 && ours[bytes] == 0x5a && back[bytes] == 0x5a);
        qsm_aegis_seal(kind, key, nonce, back, bytes, back, tag); /* in place */
        assert(memcmp(back, theirs, bytes) == 0 && memcmp(tag, their_tag, BLOCK) == 0);
        assert(qsm_aegis_open(kind, key, nonce, back, bytes, tag, back));
        assert(memcmp(back, plain, bytes) == 0);
    }
}

/* Pieces of all sizes around a block, in any order, also empty ones. */
static void test_pieces_make_the_same_bytes(enum qsm_aegis_kind kind) {
    static uint8_t plain[BYTES_MAX], whole[BYTES_MAX], pieces[BYTES_MAX + 1];
    for (uint32_t turn = 0; turn < 400; turn++) {
        uint8_t key[BLOCK], nonce[BLOCK], tag[BLOCK], tag_of_pieces[BLOCK];
        uint32_t bytes = randombytes_uniform(BYTES_MAX + 1), most = 1 + turn % (3 * RATE);
        randombytes_buf(key, sizeof key);
        randombytes_buf(nonce, sizeof nonce);
        randombytes_buf(plain, sizeof plain);
        qsm_aegis_seal(kind, key, nonce, plain, bytes, whole, tag);
        qsm_aegis_run run;
        pieces[bytes] = 0x5a;
        qsm_aegis_run_begin(kind, &run, key, nonce);
        for (uint32_t at = 0, piece; at < bytes; at += piece) {
            piece = randombytes_uniform(most + 1);
            if (piece > bytes - at) piece = bytes - at;
            qsm_aegis_run_add(kind, &run, plain + at, piece, pieces);
        }
        qsm_aegis_run_end(kind, &run, pieces, tag_of_pieces);
        assert(memcmp(whole, pieces, bytes) == 0 && pieces[bytes] == 0x5a);
        assert(memcmp(tag, tag_of_pieces, BLOCK) == 0);
    }
}

static void test_every_changed_bit_is_noticed(enum qsm_aegis_kind kind) {
    uint8_t key[BLOCK] = {1}, nonce[BLOCK] = {2}, plain[150] = {3}, sealed[150], tag[BLOCK];
    uint8_t back[150], zeros[150] = {0};
    qsm_aegis_seal(kind, key, nonce, plain, sizeof plain, sealed, tag);
    uint8_t *parts[] = {sealed, tag, nonce, key};
    const uint32_t sizes[] = {sizeof sealed, sizeof tag, sizeof nonce, sizeof key};
    for (int part = 0; part < 4; part++)
        for (uint32_t bit = 0; bit < 8 * sizes[part]; bit++) {
            parts[part][bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert(!qsm_aegis_open(kind, key, nonce, sealed, sizeof sealed, tag, back));
            assert(memcmp(back, zeros, sizeof back) == 0);
            parts[part][bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    assert(!qsm_aegis_open(kind, key, nonce, sealed, sizeof sealed - 1, tag, back));
    assert(qsm_aegis_open(kind, key, nonce, sealed, sizeof sealed, tag, back));
}

int main(void) {
    if (sodium_init() < 0) return 1;
    test_published_vectors();
    enum qsm_aegis_kind best = qsm_aegis_best();
    for (enum qsm_aegis_kind kind = QSM_AEGIS_NARROW; kind <= best; kind++) {
        test_equal_to_the_plain_one(kind);
        test_pieces_make_the_same_bytes(kind);
        test_every_changed_bit_is_noticed(kind);
    }
    printf("AEGIS-128X2: %d kinds of code agree with the plain one\n", (int)best);
    return 0;
}
