#include "core/aes_gcm_wide.h"

#if QSM_AES_HAS_WIDE

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

/* Only these functions are compiled for the wide instructions; the rest of the engine is not. */
#define WIDE                                                                                       \
    __attribute__((target("aes,pclmul,sse4.1,avx2,avx512f,avx512bw,avx512vl,vaes,vpclmulqdq")))
#define WIDE_INLINE WIDE __attribute__((always_inline)) static inline

enum {
    ROUNDS = 14,
    BLOCK = 16,
    LANES = 4, /* blocks in a vector */
    VECTOR = BLOCK * LANES,
    VECTORS = 8, /* in a chunk: so many are under way at once */
    CHUNK = VECTOR * VECTORS,
    CHUNK_LANES = LANES * VECTORS,
    POWERS = CHUNK_LANES + 1
};

/* What the bytes of a key hold. Powers of the authenticator's key in the order in which they are
 * used: the greatest first, for the blocks of a chunk and the length behind them. Each is
 * multiplied by x beforehand, which makes the reduction shorter. Behind the last are zeros, for
 * lanes and a whole vector beyond the last block. */
typedef struct {
    uint8_t rounds[ROUNDS + 1][BLOCK];
    uint8_t powers[POWERS + 2 * LANES][BLOCK];
} wide_key;

_Static_assert(sizeof(wide_key) == sizeof(qsm_aes_key), "one key's room");

/* Asked of the processor itself: not every compiler knows a name for it. */
static bool has_aes_vectors(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_VAES) != 0;
}

bool qsm_aes_wide_is_here(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vpclmulqdq") &&
           has_aes_vectors();
}

/* ---- the cipher's key ---- */

/* x, x<<32, x<<64 and x<<96 added up: what each word of a round key takes from the one before. */
WIDE_INLINE __m128i prefix_xor(__m128i x) {
    x = _mm_xor_si128(x, _mm_slli_si128(x, 4));
    return _mm_xor_si128(x, _mm_slli_si128(x, 8));
}

WIDE static void expand_rounds(wide_key *key, const uint8_t secret[QSM_AES_KEY_BYTES]) {
    __m128i even = _mm_loadu_si128((const void *)secret);
    __m128i odd = _mm_loadu_si128((const void *)(secret + BLOCK));
    __m128i *rounds = (void *)key->rounds;
    _mm_store_si128(&rounds[0], even);
    _mm_store_si128(&rounds[1], odd);
#define TWO_ROUNDS(index, constant)                                                                \
    even = _mm_xor_si128(prefix_xor(even),                                                         \
                         _mm_shuffle_epi32(_mm_aeskeygenassist_si128(odd, constant), 0xff));       \
    _mm_store_si128(&rounds[index], even);                                                         \
    if ((index) < ROUNDS) {                                                                        \
        odd = _mm_xor_si128(prefix_xor(odd),                                                       \
                            _mm_shuffle_epi32(_mm_aeskeygenassist_si128(even, 0), 0xaa));          \
        _mm_store_si128(&rounds[(index) + 1], odd);                                                \
    }
    TWO_ROUNDS(2, 0x01)
    TWO_ROUNDS(4, 0x02)
    TWO_ROUNDS(6, 0x04)
    TWO_ROUNDS(8, 0x08)
    TWO_ROUNDS(10, 0x10)
    TWO_ROUNDS(12, 0x20)
    TWO_ROUNDS(14, 0x40)
#undef TWO_ROUNDS
}

WIDE_INLINE __m128i encrypt_block(const wide_key *key, __m128i block) {
    const __m128i *rounds = (const void *)key->rounds;
    block = _mm_xor_si128(block, rounds[0]);
    for (int round = 1; round < ROUNDS; round++)
        block = _mm_aesenc_si128(block, rounds[round]);
    return _mm_aesenclast_si128(block, rounds[ROUNDS]);
}

/* ---- the authenticator ----
 *
 * GHASH multiplies in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1 with the bits of a block in
 * reverse. A block is read with its bytes reversed; then the lowest coefficient is the highest bit,
 * and reduction goes from the low half upwards. */

WIDE_INLINE __m128i reversed(__m128i block) {
    return _mm_shuffle_epi8(block,
                            _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* Adds the halves of a product: twice, a low half of 64 bits is replaced by what it is congruent
 * to. */
WIDE_INLINE __m128i reduce(__m128i low, __m128i middle, __m128i high) {
    const __m128i polynomial = _mm_set_epi64x((long long)0xc200000000000000u, 1);
    middle = _mm_xor_si128(middle, _mm_shuffle_epi32(low, 0x4e));
    middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(polynomial, low, 0x01));
    high = _mm_xor_si128(high, _mm_shuffle_epi32(middle, 0x4e));
    return _mm_xor_si128(high, _mm_clmulepi64_si128(polynomial, middle, 0x01));
}

WIDE_INLINE __m128i multiply(__m128i a, __m128i b) {
    __m128i low = _mm_clmulepi64_si128(a, b, 0x00);
    __m128i middle =
        _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
    return reduce(low, middle, _mm_clmulepi64_si128(a, b, 0x11));
}

WIDE_INLINE __m128i times_x(__m128i value) {
    const __m128i polynomial = _mm_set_epi64x((long long)0xc200000000000000u, 1);
    __m128i carries = _mm_srli_epi64(value, 63);
    __m128i overflows = _mm_sub_epi64(_mm_setzero_si128(), _mm_shuffle_epi32(carries, 0xee));
    __m128i doubled = _mm_or_si128(_mm_slli_epi64(value, 1), _mm_slli_si128(carries, 8));
    return _mm_xor_si128(doubled, _mm_and_si128(overflows, polynomial));
}

WIDE void qsm_aes_wide_expand(qsm_aes_key *out, const uint8_t secret[QSM_AES_KEY_BYTES]) {
    wide_key *key = (wide_key *)(void *)out->bytes;
    __m128i powers[POWERS + 1];
    expand_rounds(key, secret);
    powers[1] = times_x(reversed(encrypt_block(key, _mm_setzero_si128())));
    /* Each from two of half its degree, so that few depend on one another. */
    for (int degree = 2; degree <= POWERS; degree++)
        powers[degree] = multiply(powers[degree / 2], powers[degree - degree / 2]);
    for (int degree = 1; degree <= POWERS; degree++)
        _mm_store_si128((void *)key->powers[POWERS - degree], powers[degree]);
    memset(key->powers[POWERS], 0, 2 * LANES * BLOCK);
}

/* Products of blocks that are not yet reduced. */
typedef struct {
    __m512i low, middle, high;
} products;

WIDE_INLINE products no_products(void) {
    __m512i zero = _mm512_setzero_si512();
    return (products){zero, zero, zero};
}

WIDE_INLINE void add_product(products *sum, __m512i blocks, __m512i powers) {
    sum->low = _mm512_xor_si512(sum->low, _mm512_clmulepi64_epi128(blocks, powers, 0x00));
    sum->high = _mm512_xor_si512(sum->high, _mm512_clmulepi64_epi128(blocks, powers, 0x11));
    sum->middle =
        _mm512_ternarylogic_epi64(sum->middle, _mm512_clmulepi64_epi128(blocks, powers, 0x01),
                                  _mm512_clmulepi64_epi128(blocks, powers, 0x10), 0x96);
}

WIDE_INLINE __m128i fold(__m512i value) {
    __m256i half =
        _mm256_xor_si256(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64(value, 1));
    return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

WIDE_INLINE __m128i reduce_products(const products *sum) {
    return reduce(fold(sum->low), fold(sum->middle), fold(sum->high));
}

WIDE_INLINE __m512i reversed_blocks(__m512i blocks) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    return _mm512_shuffle_epi8(blocks, order);
}

/* ---- a message ----
 *
 * The block that masks the tag is the first of the key stream, so it takes the first lane and the
 * text begins in the second. In the hash that lane is zero, which changes nothing in front of the
 * first block. */

typedef struct {
    const wide_key *key;
    const uint8_t *in;
    uint8_t *out;
    uint32_t bytes;   /* still to be done */
    __m512i counters; /* of the next vector, their numbers as integers */
    __m128i hash;     /* of all that has been hashed */
    __m128i tag_mask;
    __m512i length;        /* the last block of the hash, as a number */
    __m512i text[VECTORS]; /* sealing: what was made last and is not hashed yet */
} message;

/* Vectors that are hashed while others are encrypted. */
typedef struct {
    const __m512i *vectors;
    int count;
    uint32_t lanes; /* blocks in them; behind the last chunk comes the length */
    bool last;
} unhashed;

WIDE_INLINE const uint8_t *first_power(const message *of, const unhashed *chunk) {
    return of->key->powers[chunk->last ? CHUNK_LANES - chunk->lanes : 1];
}

WIDE_INLINE void hash_vector(const message *of, const unhashed *chunk, int index, products *sum) {
    __m512i blocks = reversed_blocks(chunk->vectors[index]);
    if (index == 0) blocks = _mm512_xor_si512(blocks, _mm512_zextsi128_si512(of->hash));
    add_product(sum, blocks, _mm512_loadu_si512(first_power(of, chunk) + index * VECTOR));
}

WIDE_INLINE void finish_hash(message *of, const unhashed *chunk, products *sum) {
    if (chunk->last) add_product(sum, of->length, _mm512_loadu_si512(of->key->powers[POWERS - 1]));
    of->hash = reduce_products(sum);
}

WIDE_INLINE __m512i round_key(const wide_key *key, int round) {
    return _mm512_broadcast_i32x4(_mm_load_si128((const void *)key->rounds[round]));
}

/* Makes the key stream of some vectors. Between the rounds, each of which waits for the one before,
 * a chunk that is complete is hashed. */
WIDE_INLINE void make_stream(message *of, __m512i stream[VECTORS], int count,
                             const unhashed *chunk) {
    const __m512i four = _mm512_set_epi32(4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0);
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m512i first = round_key(of->key, 0);
#pragma GCC unroll 8
    for (int index = 0; index < count; index++) {
        stream[index] = _mm512_xor_si512(_mm512_shuffle_epi8(of->counters, order), first);
        of->counters = _mm512_add_epi32(of->counters, four);
    }
    products sum = no_products();
#pragma GCC unroll 13
    for (int round = 1; round < ROUNDS; round++) {
        __m512i next = round_key(of->key, round);
#pragma GCC unroll 8
        for (int index = 0; index < count; index++)
            stream[index] = _mm512_aesenc_epi128(stream[index], next);
        if (round <= chunk->count) hash_vector(of, chunk, round - 1, &sum);
    }
    __m512i last = round_key(of->key, ROUNDS);
#pragma GCC unroll 8
    for (int index = 0; index < count; index++)
        stream[index] = _mm512_aesenclast_epi128(stream[index], last);
    if (chunk->count > 0) finish_hash(of, chunk, &sum);
}

/* Where a vector of a chunk lies in what is still to be done: the first of all has one lane less
 * of it. */
WIDE_INLINE uint32_t offset_of(int index, bool first) {
    return (uint32_t)index * VECTOR - (first && index > 0 ? BLOCK : 0);
}

WIDE_INLINE __mmask64 mask_of(const message *of, int index, bool first, bool last) {
    uint32_t most = first && index == 0 ? VECTOR - BLOCK : VECTOR;
    uint32_t offset = offset_of(index, first);
    uint32_t here = !last ? most : of->bytes > offset ? of->bytes - offset : 0;
    return here >= most ? ~0ull >> (VECTOR - most) : (1ull << here) - 1;
}

/* One lane up, an empty one below; and back. */
WIDE_INLINE __m512i lane_up(__m512i value) {
    return _mm512_alignr_epi64(value, _mm512_setzero_si512(), 6);
}
WIDE_INLINE __m512i lane_down(__m512i value) {
    return _mm512_alignr_epi64(_mm512_setzero_si512(), value, 2);
}

/* Encrypts or decrypts a chunk of some vectors. All but the first argument are known where this is
 * called, so that there is code of its own for each. */
WIDE_INLINE void run_chunk(message *of, bool opens, bool first, bool last, int count) {
    __m512i stream[VECTORS], taken[VECTORS];
#pragma GCC unroll 8
    for (int index = 0; index < count; index++) {
        __mmask64 mask = mask_of(of, index, first, last);
        taken[index] = _mm512_maskz_loadu_epi8(mask, of->in + offset_of(index, first));
        if (first && index == 0) taken[index] = lane_up(taken[index]);
    }
    uint32_t lanes = (of->bytes + BLOCK - 1) / BLOCK + (first ? 1 : 0);
    unhashed before = {.vectors = of->text, .count = first ? 0 : VECTORS};
    unhashed here = {.vectors = taken, .count = count, .lanes = lanes, .last = last};
    make_stream(of, stream, count, opens ? &here : &before);
    if (first) of->tag_mask = _mm512_castsi512_si128(stream[0]);
#pragma GCC unroll 8
    for (int index = 0; index < count; index++) {
        __mmask64 mask = mask_of(of, index, first, last);
        __m512i made = _mm512_xor_si512(taken[index], stream[index]);
        if (first && index == 0) made = lane_down(made);
        made = _mm512_maskz_mov_epi8(mask, made);
        _mm512_mask_storeu_epi8(of->out + offset_of(index, first), mask, made);
        of->text[index] = first && index == 0 ? lane_up(made) : made;
    }
    if (!last) {
        uint32_t done = CHUNK - (first ? BLOCK : 0);
        of->in += done;
        of->out += done;
        of->bytes -= done;
    } else if (!opens) {
        products sum = no_products();
        here.vectors = of->text;
#pragma GCC unroll 8
        for (int index = 0; index < count; index++)
            hash_vector(of, &here, index, &sum);
        finish_hash(of, &here, &sum);
    }
}

/* The last chunk: as many vectors as it needs, or one more. */
WIDE_INLINE void run_last(message *of, bool opens, bool first) {
    uint32_t vectors = (of->bytes + (first ? BLOCK : 0) + VECTOR - 1) / VECTOR;
    if (vectors <= 2)
        run_chunk(of, opens, first, true, 2);
    else if (vectors <= 4)
        run_chunk(of, opens, first, true, 4);
    else if (vectors <= 6)
        run_chunk(of, opens, first, true, 6);
    else
        run_chunk(of, opens, first, true, VECTORS);
}

/* `opens` is known where this is called. */
WIDE_INLINE void run(const wide_key *key, const uint8_t nonce[QSM_AES_NONCE_BYTES],
                     const uint8_t *in, uint32_t bytes, uint8_t *out, bool opens, uint8_t tag[16]) {
    uint32_t words[3];
    memcpy(words, nonce, sizeof words);
    __m128i start = _mm_set_epi32(1, (int)words[2], (int)words[1], (int)words[0]);
    message of = {.key = key, .in = in, .out = out, .bytes = bytes};
    of.counters =
        _mm512_add_epi32(_mm512_broadcast_i32x4(start),
                         _mm512_set_epi32(3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0));
    of.hash = _mm_setzero_si128();
    of.length = _mm512_zextsi128_si512(_mm_set_epi64x(0, (long long)bytes * 8));
    if (bytes <= CHUNK - BLOCK) {
        run_last(&of, opens, true);
    } else {
        run_chunk(&of, opens, true, false, VECTORS);
        while (of.bytes > CHUNK)
            run_chunk(&of, opens, false, false, VECTORS);
        run_last(&of, opens, false);
    }
    _mm_storeu_si128((void *)tag, _mm_xor_si128(reversed(of.hash), of.tag_mask));
}

WIDE void qsm_aes_wide_seal(const qsm_aes_key *key, const uint8_t nonce[QSM_AES_NONCE_BYTES],
                            const uint8_t *plain, uint32_t bytes, uint8_t *sealed,
                            uint8_t tag[16]) {
    run((const wide_key *)(const void *)key->bytes, nonce, plain, bytes, sealed, false, tag);
}

WIDE void qsm_aes_wide_open(const qsm_aes_key *key, const uint8_t nonce[QSM_AES_NONCE_BYTES],
                            const uint8_t *sealed, uint32_t bytes, uint8_t *plain,
                            uint8_t tag[16]) {
    run((const wide_key *)(const void *)key->bytes, nonce, sealed, bytes, plain, true, tag);
}

#endif
