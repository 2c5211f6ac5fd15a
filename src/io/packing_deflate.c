// SPDX-License-Identifier: MIT
// Deflate with one distance: tokens, Huffman's code of their symbols, bits.
#include "io/packing_deflate.h"

#include <string.h>

enum {
    END_OF_BLOCK = 256,
    LENGTH_FIRST = 257,
    LENGTH_COUNT = 29,
    SYMBOLS_USED = LENGTH_FIRST + LENGTH_COUNT, // the fixed code has two more
    LENGTH_MIN = 4,                             // shorter repetitions gain little over literals
    LENGTH_MAX = 258,
    DISTANCE_COUNT = 30,
    CODE_BITS_MAX = 15,
    WORD = 8, // bytes compared at once
};

// ---- bits -------------------------------------------------------------------------------------------

// The first byte of a word in memory is the lowest.
static inline uint64_t in_order(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static inline void put_bits(deflate_stream *s, uint64_t value, unsigned count)
{
    s->bits |= value << s->bit_count;
    s->bit_count += count;
}

// Whole bytes leave; at most 56 bits may have been put since the last time.
static inline void drain(deflate_stream *s)
{
    const uint64_t word = in_order(s->bits);
    memcpy(s->next, &word, sizeof word);
    unsigned bytes = s->bit_count / 8;
    s->next += bytes;
    s->bits = bytes < WORD ? s->bits >> 8 * bytes : 0;
    s->bit_count %= 8;
}

unsigned char *deflate_finish(deflate_stream *s)
{
    s->bit_count = (s->bit_count + 7) / 8 * 8;
    drain(s);
    return s->next;
}

void deflate_stored(deflate_stream *s, const unsigned char *bytes, size_t size, bool last)
{
    for (size_t done = 0, some; done < size; done += some) {
        some = size - done < DEFLATE_STORED_MAX ? size - done : DEFLATE_STORED_MAX;
        put_bits(s, last && done + some == size, 3);
        deflate_finish(s);
        put_bits(s, some | (uint64_t)(some ^ 0xffff) << 16, 32);
        drain(s);
        memcpy(s->next, bytes + done, some);
        s->next += some;
    }
}

// ---- symbols ----------------------------------------------------------------------------------------

typedef struct symbol_extra {
    unsigned symbol, bits, value; // with so many bits behind it
} symbol_extra;

static const uint16_t LENGTH_BASE[LENGTH_COUNT] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                   15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                   67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t LENGTH_BITS[LENGTH_COUNT] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                  2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

static symbol_extra length_symbol(unsigned length)
{
    unsigned k = 0;
    if (length == LENGTH_MAX) k = LENGTH_COUNT - 1;
    else if (length < 11) k = length - 3;
    else {
        // four symbols for each power of two
        unsigned power = 31 - (unsigned)__builtin_clz(length - 3);
        k = 4 * (power - 1) + ((length - 3) >> (power - 2) & 3);
    }
    return (symbol_extra){LENGTH_FIRST + k, LENGTH_BITS[k], length - LENGTH_BASE[k]};
}

// Two symbols for each power of two.
static symbol_extra distance_symbol(size_t distance)
{
    unsigned from = (unsigned)distance - 1;
    if (from < 4) return (symbol_extra){from, 0, 0};
    unsigned power = 31 - (unsigned)__builtin_clz(from), bits = power - 1;
    return (symbol_extra){2 * power + (from >> bits & 1), bits, from & ((1u << bits) - 1)};
}

// ---- tokens -----------------------------------------------------------------------------------------

static inline uint64_t load_word(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return in_order(word);
}

// How many of `most` bytes equal those at the distance?
static inline size_t equal_count(const unsigned char *p, size_t distance, size_t most)
{
    size_t count = 0;
    for (; count + WORD <= most; count += WORD) {
        uint64_t differ = load_word(p + count) ^ load_word(p + count - distance);
        if (differ != 0) return count + (unsigned)__builtin_ctzll(differ) / 8;
    }
    while (count < most && p[count] == p[count - distance]) ++count;
    return count;
}

// Bytes `length` long that repeat, in as many tokens as it takes; `literals` come before them.
static void add_repeated(deflate_plan_result *plan, size_t literals, size_t length)
{
    while (length > 0) {
        size_t some = length;
        // what is left is none or long enough
        if (some > LENGTH_MAX)
            some = some < LENGTH_MAX + LENGTH_MIN ? LENGTH_MAX - LENGTH_MIN : LENGTH_MAX;
        plan->tokens[plan->token_count++] = (deflate_token){(uint32_t)literals, (uint32_t)some};
        length -= some;
        literals = 0;
    }
}

// Repetitions are looked for at every half of a word, and then to both sides.
static void find_tokens(const unsigned char *bytes, size_t size, deflate_plan_result *plan)
{
    enum { HALF = WORD / 2 };
    const size_t distance = plan->distance;
    size_t begin = 0, at = distance < size ? distance : size;
    plan->token_count = 0;
    while (at + WORD <= size) {
        uint64_t differ = load_word(bytes + at) ^ load_word(bytes + at - distance);
        if (differ >> 32 != 0 && (uint32_t)differ != 0) {
            at += WORD;
            continue;
        }
        size_t first = at + ((uint32_t)differ == 0 ? 0 : HALF);
        size_t end =
            first + HALF + equal_count(bytes + first + HALF, distance, size - first - HALF);
        while (first > begin && first > distance && bytes[first - 1] == bytes[first - 1 - distance])
            --first;
        add_repeated(plan, first - begin, end - first);
        begin = at = end;
    }
    plan->tokens[plan->token_count++] = (deflate_token){(uint32_t)(size - begin), 0};
}

static void count_symbols(const unsigned char *bytes, deflate_plan_result *plan)
{
    memset(plan->frequency, 0, sizeof plan->frequency);
    for (size_t t = 0; t < plan->token_count; ++t) {
        const deflate_token *token = &plan->tokens[t];
        for (uint32_t i = 0; i < token->literal_count; ++i) plan->frequency[bytes[i]]++;
        bytes += token->literal_count + token->length;
        if (token->length > 0) plan->frequency[length_symbol(token->length).symbol]++;
    }
    plan->frequency[END_OF_BLOCK]++;
}

// ---- Huffman's code ---------------------------------------------------------------------------------

enum { SYMBOL_BITS = 9, KEY_DIGIT_BITS = 8 };

// Keys by one digit of theirs, in the same order where it is equal.
static void sort_by_digit(const uint32_t *keys, size_t count, unsigned shift, uint32_t *sorted)
{
    uint16_t place[1 << KEY_DIGIT_BITS] = {0};
    const unsigned mask = (1u << KEY_DIGIT_BITS) - 1;
    for (size_t k = 0; k < count; ++k) place[keys[k] >> shift & mask]++;
    for (unsigned d = 0, before = 0; d <= mask; ++d) {
        unsigned here = place[d];
        place[d] = (uint16_t)before;
        before += here;
    }
    for (size_t k = 0; k < count; ++k) sorted[place[keys[k] >> shift & mask]++] = keys[k];
}

// Keys, weights before symbols, in rising order: few by exchange, many digit by digit of their weights.
static void sort_keys(uint32_t *keys, size_t count)
{
    enum { FEW = 24 };
    uint32_t other[DEFLATE_SYMBOLS], largest = 0;
    for (size_t i = 1; i < count && count <= FEW; ++i) {
        uint32_t key = keys[i];
        size_t k = i;
        for (; k > 0 && keys[k - 1] > key; --k) keys[k] = keys[k - 1];
        keys[k] = key;
    }
    if (count <= FEW) return;
    for (size_t k = 0; k < count; ++k) largest = keys[k] > largest ? keys[k] : largest;
    for (unsigned shift = SYMBOL_BITS; shift < 32 && largest >> shift != 0;
         shift += KEY_DIGIT_BITS) {
        sort_by_digit(keys, count, shift, other);
        memcpy(keys, other, count * sizeof *keys);
    }
}

// Lengths of the code for `count` > 1 weights in rising order: the two lightest of leaves and of nodes made so far are
// joined, again and again. @return the largest
static unsigned join_lightest(const uint32_t *weights, size_t count, uint8_t *lengths)
{
    uint32_t node_weight[DEFLATE_SYMBOLS];
    uint16_t leaf_parent[DEFLATE_SYMBOLS], node_parent[DEFLATE_SYMBOLS];
    uint8_t depth[DEFLATE_SYMBOLS];
    size_t leaf = 0, first = 0, made = 0;
    for (; made + 1 < count; ++made) {
        node_weight[made] = 0;
        for (int k = 0; k < 2; ++k) {
            bool take_leaf = leaf < count && (first >= made || weights[leaf] <= node_weight[first]);
            node_weight[made] += take_leaf ? weights[leaf] : node_weight[first];
            if (take_leaf) leaf_parent[leaf++] = (uint16_t)made;
            else node_parent[first++] = (uint16_t)made;
        }
    }
    unsigned largest = 0;
    depth[made - 1] = 0;
    for (size_t k = made - 1; k-- > 0;) depth[k] = (uint8_t)(depth[node_parent[k]] + 1);
    for (size_t k = 0; k < count; ++k) {
        lengths[k] = (uint8_t)(depth[leaf_parent[k]] + 1);
        if (lengths[k] > largest) largest = lengths[k];
    }
    return largest;
}

// One more than a number whose highest bit comes first.
static inline unsigned turned_next(unsigned code, unsigned length)
{
    unsigned bit = 1u << (length - 1);
    for (; (code & bit) != 0; bit >>= 1) code ^= bit;
    return code | bit;
}

// Codes of one length count upward from twice the end of those one bit shorter; they are stored lowest bit first.
static void number_codes(deflate_code *code)
{
    unsigned counts[CODE_BITS_MAX + 1] = {0}, next[CODE_BITS_MAX + 1] = {0}, first = 0;
    for (int k = 0; k < DEFLATE_SYMBOLS; ++k) counts[code->length[k]]++;
    counts[0] = 0;
    for (unsigned b = 1; b <= CODE_BITS_MAX; ++b) {
        first = (first + counts[b - 1]) << 1;
        for (unsigned d = 0; d < b; ++d) next[b] |= (first >> d & 1) << (b - 1 - d);
    }
    for (int k = 0; k < DEFLATE_SYMBOLS; ++k) {
        unsigned length = code->length[k];
        if (length == 0) continue;
        code->bits[k] = (uint16_t)next[length];
        next[length] = turned_next(next[length], length);
    }
}

void deflate_prepare(deflate_plan_result *plan)
{
    for (int k = 0; k < DEFLATE_SYMBOLS; ++k)
        plan->fixed.length[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
    number_codes(&plan->fixed);
}

static void find_code(deflate_plan_result *plan)
{
    uint32_t keys[DEFLATE_SYMBOLS], weights[DEFLATE_SYMBOLS];
    uint8_t lengths[DEFLATE_SYMBOLS];
    size_t count = 0;
    uint32_t heaviest = UINT32_MAX >> SYMBOL_BITS;
    for (uint32_t k = 0; k < DEFLATE_SYMBOLS; ++k) {
        uint32_t weight = plan->frequency[k] < heaviest ? plan->frequency[k] : heaviest;
        if (weight > 0) keys[count++] = weight << SYMBOL_BITS | k;
    }
    sort_keys(keys, count);
    for (size_t k = 0; k < count; ++k) weights[k] = keys[k] >> SYMBOL_BITS;
    // weights that differ less have shorter codes
    while (join_lightest(weights, count, lengths) > CODE_BITS_MAX)
        for (size_t k = 0; k < count; ++k) weights[k] = (weights[k] + 1) / 2;
    memset(plan->own.length, 0, sizeof plan->own.length);
    for (size_t k = 0; k < count; ++k)
        plan->own.length[keys[k] & ((1u << SYMBOL_BITS) - 1)] = lengths[k];
    number_codes(&plan->own);
}

// ---- the head of a block: lengths of codes, themselves in a code ----------------------------------------

// A code for lengths that is always the same: 4 bits for 0 to 11 and for runs of zeros (17: 3 to 10, 18: 11 to 138),
// 5 bits for 12 to 15, none for 16.
enum { ZEROS_FEW = 17, ZEROS_MANY = 18, LENGTH_SYMBOLS = 19 };

static unsigned head_bits(unsigned symbol)
{
    if (symbol == 16) return 0;
    return symbol >= 12 && symbol <= 15 ? 5 : 4;
}

// Four bits: 0 to 11, 17, 18 count upward from 0; five bits: from 2 * 14 on. Lowest bit first.
static unsigned head_code(unsigned symbol)
{
    static const uint8_t TURNED[LENGTH_SYMBOLS] = {0, 8,  4, 12, 2,  10, 6, 14, 1, 9,
                                                   5, 13, 7, 23, 15, 31, 0, 3,  11};
    return TURNED[symbol];
}

static size_t put_length_symbol(deflate_stream *s, unsigned symbol, unsigned extra,
                                unsigned extra_bits)
{
    unsigned bits = head_bits(symbol);
    if (s != NULL) {
        put_bits(s, head_code(symbol) | extra << bits, bits + extra_bits);
        drain(s);
    }
    return bits + extra_bits;
}

// Code lengths one after the other; no stream: their bits are counted only.
static size_t put_lengths(deflate_stream *s, const uint8_t *lengths, size_t count)
{
    size_t bits = 0;
    for (size_t k = 0; k < count;) {
        unsigned zeros = 0;
        while (k + zeros < count && zeros < 138 && lengths[k + zeros] == 0) ++zeros;
        if (zeros >= 11) bits += put_length_symbol(s, ZEROS_MANY, zeros - 11, 7);
        else if (zeros >= 3) bits += put_length_symbol(s, ZEROS_FEW, zeros - 3, 3);
        else bits += put_length_symbol(s, lengths[k], 0, 0);
        k += zeros >= 3 ? zeros : 1;
    }
    return bits;
}

// All lengths: of symbols up to the last one used, and of distances, of which one has a length.
static size_t all_lengths(const deflate_plan_result *plan, uint8_t *lengths, size_t *symbol_count)
{
    size_t symbols = SYMBOLS_USED, distances = distance_symbol(plan->distance).symbol + 1;
    while (symbols > LENGTH_FIRST && plan->own.length[symbols - 1] == 0) --symbols;
    memcpy(lengths, plan->own.length, symbols);
    memset(lengths + symbols, 0, distances);
    lengths[symbols + distances - 1] = 1;
    *symbol_count = symbols;
    return symbols + distances;
}

enum { HEAD_BITS = 3 + 5 + 5 + 4 + 3 * LENGTH_SYMBOLS };

static void put_head(deflate_stream *s, const deflate_plan_result *plan, bool last)
{
    static const uint8_t ORDER[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[DEFLATE_SYMBOLS + DISTANCE_COUNT];
    size_t symbols, count = all_lengths(plan, lengths, &symbols);
    put_bits(s, (last ? 1u : 0u) | 2u << 1, 3);
    put_bits(s, symbols - LENGTH_FIRST, 5);
    put_bits(s, count - symbols - 1, 5);
    put_bits(s, LENGTH_SYMBOLS - 4, 4);
    drain(s);
    for (int k = 0; k < LENGTH_SYMBOLS; ++k) {
        put_bits(s, head_bits(ORDER[k]), 3);
        drain(s);
    }
    put_lengths(s, lengths, count);
}

// ---- blocks -----------------------------------------------------------------------------------------

size_t deflate_plan(const unsigned char *bytes, size_t size, size_t distance,
                    deflate_plan_result *plan)
{
    uint8_t lengths[DEFLATE_SYMBOLS + DISTANCE_COUNT];
    size_t symbols, bits = HEAD_BITS;
    plan->distance = distance;
    plan->is_fixed = false;
    find_tokens(bytes, size, plan);
    count_symbols(bytes, plan);
    find_code(plan);
    bits += put_lengths(NULL, lengths, all_lengths(plan, lengths, &symbols));
    unsigned distance_bits = 1 + distance_symbol(distance).bits;
    for (size_t k = 0; k < symbols; ++k) {
        unsigned each = plan->own.length[k];
        if (k >= LENGTH_FIRST) each += LENGTH_BITS[k - LENGTH_FIRST] + distance_bits;
        bits += (size_t)plan->frequency[k] * each;
    }
    return bits / 8 + 1;
}

void deflate_plan_fixed(const unsigned char *bytes, size_t size, size_t distance,
                        deflate_plan_result *plan)
{
    plan->distance = distance;
    plan->is_fixed = true;
    find_tokens(bytes, size, plan);
}

static inline void put_symbol(deflate_stream *s, const deflate_code *code, unsigned symbol)
{
    put_bits(s, code->bits[symbol], code->length[symbol]);
}

static const unsigned char *put_literals(deflate_stream *stream, const unsigned char *bytes,
                                         size_t count, const deflate_code *code)
{
    deflate_stream s = *stream; // kept in registers
    const unsigned char *end = bytes + count;
    for (; end - bytes >= 3; bytes += 3) {
        for (int k = 0; k < 3; ++k) put_symbol(&s, code, bytes[k]);
        drain(&s);
    }
    for (; bytes < end; ++bytes) {
        put_symbol(&s, code, *bytes);
        drain(&s);
    }
    *stream = s;
    return end;
}

// The only distance of a block, with what comes behind its symbol: of its own code one bit, of the fixed one five.
static void code_distance(const deflate_plan_result *plan, uint64_t *bits, unsigned *count)
{
    symbol_extra distance = distance_symbol(plan->distance);
    unsigned length = plan->is_fixed ? 5 : 1, turned = 0;
    for (unsigned d = 0; d < length && plan->is_fixed; ++d)
        turned |= (distance.symbol >> d & 1) << (length - 1 - d);
    *bits = turned | (uint64_t)distance.value << length;
    *count = length + distance.bits;
}

void deflate_coded(deflate_stream *s, const unsigned char *bytes, const deflate_plan_result *plan,
                   bool last)
{
    const deflate_code *code = plan->is_fixed ? &plan->fixed : &plan->own;
    uint64_t distance_bits;
    unsigned distance_count;
    code_distance(plan, &distance_bits, &distance_count);
    if (plan->is_fixed) put_bits(s, (last ? 1u : 0u) | 1u << 1, 3);
    else put_head(s, plan, last);
    drain(s);
    for (size_t k = 0; k < plan->token_count; ++k) {
        const deflate_token *token = &plan->tokens[k];
        bytes = put_literals(s, bytes, token->literal_count, code);
        if (token->length == 0) continue;
        symbol_extra length = length_symbol(token->length);
        put_symbol(s, code, length.symbol);
        put_bits(s, length.value, length.bits);
        put_bits(s, distance_bits, distance_count);
        drain(s);
        bytes += token->length;
    }
    put_symbol(s, code, END_OF_BLOCK);
    drain(s);
}
