/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of partial keys. Layout: cl/shared/string_partial.h. */
#include "primitive/scan.h"
#include "primitive/string_index.h"

#include "shared/string_partial.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_KEYS = 1023, /* A page of 4-byte keys has 4 KB, as in FAST (Kim et al., 2011). */
    NIBBLE_BITS = 4,
    FIRST_PAGE_WORDS = 4,   /* build_last widens partial keys to at most this number of 4-byte words. */
    EQUAL_KEYS_MAX = 10000, /* build_last accepts one pair of equal neighbours per this number of keys. */
};

ordo_status ordo_check_partial(ordo_device *dev, const struct ordo_string_partial *p)
{
    const uint32_t bits = p->nibble_bits;
    ORDO_REQUIRE(dev, p->key_bytes % 4 == 0 && p->key_bytes <= PARTIAL_KEY_BYTES_MAX, ORDO_INVALID,
                 "partial.key_bytes is %u: must be a multiple of 4 up to %u", p->key_bytes, PARTIAL_KEY_BYTES_MAX);
    ORDO_REQUIRE(dev, p->page_keys == 0 || (p->page_keys >= PARTIAL_PAGE_MIN && p->page_keys <= PARTIAL_PAGE_MAX),
                 ORDO_INVALID, "partial.page_keys is %u: must be %u to %u", p->page_keys, PARTIAL_PAGE_MIN,
                 PARTIAL_PAGE_MAX);
    ORDO_REQUIRE(dev, bits <= 8 && (bits & (bits - 1)) == 0, ORDO_INVALID,
                 "partial.nibble_bits is %u: must be 1, 2, 4 or 8", bits);
    ORDO_REQUIRE(dev, p->prefix <= ORDO_NO_PREFIX, ORDO_INVALID, "partial.prefix is %d: there is none such",
                 (int) p->prefix);
    ORDO_REQUIRE(dev, p->key_bytes || !(p->page_keys || bits || p->prefix), ORDO_INVALID,
                 "partial.key_bytes is 0, but other members of partial are set");
    return ORDO_OK;
}

/* ---- build --------------------------------------------------------------------------------------------------- */

struct build {
    struct ordo_call         *call;
    struct ordo_string_index *index;
    partial_head              head;
    cl_uint                   prefix;
    cl_mem                    tests;
};

static void size_page(struct build *b, partial_level *level, cl_uint key_words)
{
    const cl_uint entries = level->count < b->head.page_keys ? level->count : b->head.page_keys;
    level->key_words = key_words;
    level->positions = b->prefix == PARTIAL_WHOLE ? 0 : key_words * 32 / b->head.nibble_bits;
    level->page_words = level->positions + entries * key_words;
}

/* Places all levels in the index. Returns the index size in words. The last level gets at least FIRST_PAGE_WORDS words
 * per partial key, because build_last may widen the keys. */
static size_t place_levels(struct build *b, cl_uint key_words)
{
    const cl_uint page_keys = b->head.page_keys;
    size_t        words = sizeof b->head / 4, pages = 0, stride = 1;
    for (size_t count = b->index->ids; pages != 1; count = pages, stride *= page_keys) {
        partial_level *level = &b->head.level[b->head.levels++];
        *level = (partial_level) { .pages = words, .count = (cl_uint) count, .stride = (cl_uint) stride };
        pages = ordo_ceil_div(count, page_keys);
        size_page(b, level, pages == 1 && key_words < FIRST_PAGE_WORDS ? FIRST_PAGE_WORDS : key_words);
        words += pages * level->page_words;
        size_page(b, level, key_words);
    }
    return words;
}

/* Builds the pages of `level`, and a summary of each (partial_draft). `below` has the summaries of the next lower
 * level, if any. */
static ordo_status launch_level(const struct build *b, const partial_level *level, cl_mem below, cl_mem drafts)
{
    const cl_uint           last_words = b->head.level[0].key_words, words = FIRST_PAGE_WORDS;
    const cl_uint           most = (last_words > words ? last_words : words) * 32 / b->head.nibble_bits;
    struct ordo_launch      launch = ordo_string_search_kernel(b->index, "partial_pages", level->count);
    struct ordo_string_args more;
    struct ordo_args        args = { .n = 0 };
    launch.groups = ordo_ceil_div(level->count, b->head.page_keys);
    ordo_string_index_args(&args, b->index, &more);
    ORDO_ADD(&args, ORDO_ARG(b->index->words), ORDO_ARG(level->pages), ORDO_ARG(level->count), ORDO_ARG(level->stride),
             ORDO_ARG(level->page_words), ORDO_ARG(level->positions), ORDO_ARG(level->key_words),
             ORDO_ARG(b->head.page_keys), ORDO_ARG(b->head.nibble_bits), ORDO_ARG(b->prefix), ORDO_ARG(most),
             ORDO_ARG(b->tests), ORDO_ARG(below), ORDO_ARG(drafts));
    return ordo_call_launch(b->call, &launch, &args);
}

/* Sets *few to true if few neighbouring partial keys of the last level are equal. `keys` is scratch memory. */
static ordo_status few_equal(const struct build *b, const partial_level *last, cl_uint *keys, bool *few)
{
    const size_t bytes = (size_t) last->key_words * sizeof *keys;
    size_t       equal = 0;
    ORDO_TRY(ordo_call_read(b->call, b->index->words, (last->pages + last->positions) * sizeof *keys, keys,
                            last->count * bytes));
    for (size_t i = 1; i < last->count; i++)
        equal += memcmp(keys + (i - 1) * last->key_words, keys + i * last->key_words, bytes) == 0;
    *few = equal * EQUAL_KEYS_MAX <= last->count;
    return ORDO_OK;
}

/* Doubles the size of the last level's partial keys until few are equal. */
static ordo_status build_last(struct build *b, cl_mem below, cl_mem drafts, cl_uint *keys)
{
    partial_level *last = &b->head.level[b->head.levels - 1];
    bool           few = false;
    for (;;) {
        ORDO_TRY(launch_level(b, last, below, drafts));
        if (last->key_words * 2 > FIRST_PAGE_WORDS || b->prefix == PARTIAL_WHOLE)
            return ORDO_OK;
        ORDO_TRY(few_equal(b, last, keys, &few));
        if (few)
            return ORDO_OK;
        size_page(b, last, last->key_words * 2);
    }
}

static ordo_status build_levels(struct build *b)
{
    const cl_uint n = b->head.levels;
    cl_mem        drafts[PARTIAL_LEVELS_MAX + 1] = { NULL };
    for (cl_uint k = 0; k < n; k++) {
        const size_t pages = ordo_ceil_div(b->head.level[k].count, b->head.page_keys);
        ORDO_TRY(ordo_call_scratch(b->call, pages * sizeof(partial_draft), &drafts[k + 1]));
        if (k + 1 < n)
            ORDO_TRY(launch_level(b, &b->head.level[k], drafts[k], drafts[k + 1]));
    }
    cl_uint *keys = malloc((size_t) b->head.level[n - 1].count * FIRST_PAGE_WORDS * sizeof *keys);
    ORDO_REQUIRE_MEMORY(b->call->dev, keys);
    const ordo_status status = build_last(b, drafts[n - 1], drafts[n], keys);
    free(keys);
    return status;
}

ordo_status ordo_call_build_partial(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index)
{
    const struct ordo_string_partial *partial = &params->partial;
    struct build                      b = { .call = call, .index = index, .prefix = (cl_uint) partial->prefix };
    if (index->column.count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_number_strings(call, params, index, &b.tests));
    b.head.page_keys = partial->page_keys ? partial->page_keys : PAGE_KEYS;
    b.head.nibble_bits = partial->nibble_bits ? partial->nibble_bits : NIBBLE_BITS;
    b.head.ids = (cl_uint) index->ids;
    const size_t bytes = place_levels(&b, partial->key_bytes / 4) * sizeof(cl_uint);
    index->partial = true;
    index->levels = b.head.levels;
    ORDO_TRY(ordo_buffer_create(call->dev, bytes, &index->words));
    index->bytes_held += bytes;
    ORDO_TRY(build_levels(&b));
    return ordo_call_write(call, index->words, 0, &b.head, sizeof b.head);
}

/* ---- statistics ---------------------------------------------------------------------------------------------- */

static ordo_status sum(struct ordo_call *call, cl_mem numbers, size_t count, uint64_t *out)
{
    cl_ulong total = 0;
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U64, numbers, count + 1));
    ORDO_TRY(ordo_call_read(call, numbers, count * sizeof total, &total, sizeof total));
    *out = total;
    return ORDO_OK;
}

static ordo_status count(struct ordo_call *call, const struct ordo_string_index *index,
                         struct ordo_string_index_statistics *out)
{
    const cl_uint            ids = (cl_uint) index->ids;
    const size_t             bytes = (index->ids + 1) * sizeof(cl_ulong);
    const struct ordo_launch launch = ordo_string_search_kernel(index, "partial_count", ids);
    struct ordo_string_args  more;
    struct ordo_args         args = { .n = 0 };
    cl_mem                   candidates = NULL, compared = NULL;
    ORDO_TRY(ordo_call_scratch(call, bytes, &candidates));
    ORDO_TRY(ordo_call_scratch(call, bytes, &compared));
    ordo_string_index_args(&args, index, &more);
    ORDO_ADD(&args, ORDO_ARG(ids), ORDO_ARG(candidates), ORDO_ARG(compared));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(sum(call, candidates, index->ids, &out->candidates));
    return sum(call, compared, index->ids, &out->compared);
}

ordo_status ordo_partial_count(const struct ordo_string_index *index, struct ordo_string_index_statistics *out)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin_after(&call, index->dev, NULL, NULL, true));
    return ordo_call_end(&call, count(&call, index, out));
}
