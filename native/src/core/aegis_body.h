/*
 * aegis_body.h - AEGIS-128X2 itself, included by aegis_narrow.c and aegis_wide.c, who say before
 * what a pair of blocks is: the type `pair`, INLINE and TARGET for functions that use it, names for
 * those that it makes, and
 * pair_load, pair_store, pair_twice (a block in both halves), pair_xor, pair_and, pair_round (of
 * AES), pair_sum (both halves added up). Its two ciphers run side by side, one in each half.
 */

enum { BLOCK = 16, PAIR = 2 * BLOCK, RATE = 2 * PAIR, STATE = 8 };
enum { ROUNDS_BEFORE = 10, ROUNDS_AFTER = 7 };

/* Fibonacci's numbers modulo 256, as the cipher defines them. */
static const uint8_t FIRST[BLOCK] = {0x00, 0x01, 0x01, 0x02, 0x03, 0x05, 0x08, 0x0d,
                                     0x15, 0x22, 0x37, 0x59, 0x90, 0xe9, 0x79, 0x62};
static const uint8_t SECOND[BLOCK] = {0xdb, 0x3d, 0x18, 0x55, 0x6d, 0xc2, 0x2f, 0xf1,
                                      0x20, 0x11, 0x31, 0x42, 0x73, 0xb5, 0x28, 0xdd};
/* Tells the halves apart: which one it is, and the number of the last. */
static const uint8_t HALVES[PAIR] = {[1] = 1, [BLOCK] = 1, [BLOCK + 1] = 1};

/* What comes in is added behind the round, not to its key: the same bits, but a block that is being
 * opened can come later. */
INLINE void absorb(pair s[STATE], pair low, pair high) {
    pair last = s[7];
    s[7] = pair_round(s[6], s[7]);
    s[6] = pair_round(s[5], s[6]);
    s[5] = pair_round(s[4], s[5]);
    s[4] = pair_xor(pair_round(s[3], s[4]), high);
    s[3] = pair_round(s[2], s[3]);
    s[2] = pair_round(s[1], s[2]);
    s[1] = pair_round(s[0], s[1]);
    s[0] = pair_xor(pair_round(last, s[0]), low);
}

INLINE void begin(pair s[STATE], const uint8_t *key_bytes, const uint8_t *nonce_bytes) {
    pair key = pair_twice(key_bytes), nonce = pair_twice(nonce_bytes);
    pair first = pair_twice(FIRST), second = pair_twice(SECOND), halves = pair_load(HALVES);
    s[0] = s[4] = pair_xor(key, nonce);
    s[1] = s[3] = second;
    s[2] = first;
    s[5] = s[7] = pair_xor(key, first);
    s[6] = pair_xor(key, second);
    for (int i = 0; i < ROUNDS_BEFORE; i++) {
        s[3] = pair_xor(s[3], halves);
        s[7] = pair_xor(s[7], halves);
        absorb(s, nonce, key);
    }
}

/* What the next bytes are masked with. */
INLINE pair low_mask(const pair s[STATE]) {
    return pair_xor(pair_xor(s[6], s[1]), pair_and(s[2], s[3]));
}

INLINE pair high_mask(const pair s[STATE]) {
    return pair_xor(pair_xor(s[5], s[2]), pair_and(s[6], s[7]));
}

INLINE void seal_block(pair s[STATE], const uint8_t *plain, uint8_t *sealed) {
    pair low = pair_load(plain), high = pair_load(plain + PAIR);
    pair_store(sealed, pair_xor(low, low_mask(s)));
    pair_store(sealed + PAIR, pair_xor(high, high_mask(s)));
    absorb(s, low, high);
}

INLINE void open_block(pair s[STATE], const uint8_t *sealed, uint8_t *plain) {
    pair low = pair_xor(pair_load(sealed), low_mask(s));
    pair high = pair_xor(pair_load(sealed + PAIR), high_mask(s));
    absorb(s, low, high);
    pair_store(plain, low);
    pair_store(plain + PAIR, high);
}

INLINE void seal_rest(pair s[STATE], const uint8_t *plain, uint32_t bytes, uint8_t *sealed) {
    uint8_t padded[RATE] = {0};
    memcpy(padded, plain, bytes);
    seal_block(s, padded, padded);
    memcpy(sealed, padded, bytes);
}

/* What is absorbed of the last bytes ends in zeros, not in what the mask makes of zeros. */
INLINE void open_rest(pair s[STATE], const uint8_t *sealed, uint32_t bytes, uint8_t *plain) {
    uint8_t padded[RATE] = {0};
    memcpy(padded, sealed, bytes);
    pair_store(padded, pair_xor(pair_load(padded), low_mask(s)));
    pair_store(padded + PAIR, pair_xor(pair_load(padded + PAIR), high_mask(s)));
    memset(padded + bytes, 0, RATE - bytes);
    absorb(s, pair_load(padded), pair_load(padded + PAIR));
    memcpy(plain, padded, bytes);
}

INLINE void end(pair s[STATE], uint32_t bytes, uint8_t tag[BLOCK]) {
    uint8_t lengths[BLOCK] = {0}; /* in bits: nothing associated, then the message */
    qsm_store_le(lengths + 8, (uint64_t)bytes * 8, 8);
    pair last = pair_xor(s[2], pair_twice(lengths));
    for (int i = 0; i < ROUNDS_AFTER; i++)
        absorb(s, last, last);
    pair sum = s[0];
    for (int i = 1; i < STATE - 1; i++)
        sum = pair_xor(sum, s[i]);
    pair_sum(sum, tag);
}

/* Seals or opens a whole message; which of them is known where it is called, so that nothing is
 * asked for each block. */
INLINE void pass(const uint8_t *key, const uint8_t *nonce, const uint8_t *from, uint32_t bytes,
                 uint8_t *to, uint8_t tag[BLOCK], bool opens) {
    pair s[STATE];
    begin(s, key, nonce);
    uint32_t at = 0;
    for (; bytes - at >= RATE; at += RATE)
        if (opens)
            open_block(s, from + at, to + at);
        else
            seal_block(s, from + at, to + at);
    if (at < bytes && opens) open_rest(s, from + at, bytes - at, to + at);
    if (at < bytes && !opens) seal_rest(s, from + at, bytes - at, to + at);
    end(s, bytes, tag);
}

TARGET void SEAL(const uint8_t *key, const uint8_t *nonce, const uint8_t *plain, uint32_t bytes,
                 uint8_t *sealed, uint8_t tag[16]) {
    pass(key, nonce, plain, bytes, sealed, tag, false);
}

TARGET void OPEN(const uint8_t *key, const uint8_t *nonce, const uint8_t *sealed, uint32_t bytes,
                 uint8_t *plain, uint8_t tag[16]) {
    pass(key, nonce, sealed, bytes, plain, tag, true);
}

/* ---- piece by piece -------------------------------------------------------------------------- */

INLINE void state_load(pair s[STATE], const qsm_aegis_run *run) {
    for (int i = 0; i < STATE; i++)
        s[i] = pair_load(run->state + i * PAIR);
}

INLINE void state_store(qsm_aegis_run *run, const pair s[STATE]) {
    for (int i = 0; i < STATE; i++)
        pair_store(run->state + i * PAIR, s[i]);
}

TARGET void RUN_BEGIN(qsm_aegis_run *run, const uint8_t *key, const uint8_t *nonce) {
    pair s[STATE];
    begin(s, key, nonce);
    state_store(run, s);
    run->bytes = 0;
}

TARGET void RUN_ADD(qsm_aegis_run *run, const uint8_t *plain, uint32_t bytes, uint8_t *sealed) {
    uint32_t waiting = run->bytes % RATE, missing = waiting > 0 ? RATE - waiting : 0;
    sealed += run->bytes - waiting;
    run->bytes += bytes;
    if (bytes < RATE - waiting) { /* no block is full yet */
        if (bytes) memcpy(run->rest + waiting, plain, bytes);
        return;
    }
    pair s[STATE];
    state_load(s, run);
    if (missing > 0) {
        memcpy(run->rest + waiting, plain, missing);
        seal_block(s, run->rest, sealed);
        sealed += RATE;
    }
    uint32_t at = missing;
    for (; bytes - at >= RATE; at += RATE, sealed += RATE)
        seal_block(s, plain + at, sealed);
    if (at < bytes) memcpy(run->rest, plain + at, bytes - at);
    state_store(run, s);
}

TARGET void RUN_END(qsm_aegis_run *run, uint8_t *sealed, uint8_t tag[16]) {
    pair s[STATE];
    uint32_t waiting = run->bytes % RATE;
    state_load(s, run);
    if (waiting > 0) seal_rest(s, run->rest, waiting, sealed + run->bytes - waiting);
    end(s, run->bytes, tag);
}
