/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a static search index over a sorted array (shared/index.h). */
#pragma once
#include "device/atomic.cl"
#include "primitive/separator.cl"

#ifndef INDEX_NODE_LOG2
#define INDEX_NODE_LOG2 4
#endif
#ifndef INDEX_LINE
#define INDEX_LINE INDEX_NODE_LOG2
#endif
#ifndef INDEX_SIMD
#define INDEX_SIMD INDEX_LINE
#endif
#ifndef INDEX_PAGE
#define INDEX_PAGE 0
#endif
#ifndef INDEX_GROUP
#define INDEX_GROUP 64
#endif

/* `position` is a separator's place in the index. `element` is the index of its key in the array. */
typedef struct {
    ulong position;
    uint  element;
} separator_place;

ORDO_FN separator_place separator_place_of(uint count, uint shift, uint e)
{
    const index_form form = { INDEX_NODE_LOG2, INDEX_LINE, INDEX_SIMD, INDEX_PAGE };
    const uint       blocks = index_blocks(count, shift, INDEX_NODE_LOG2);
    index_place      at = index_root(blocks, form);

    for (;;) {
        const uint here = index_units(blocks, INDEX_LINE, at.level) << INDEX_LINE;
        if (e < here)
            break;
        e -= here;
        at = index_below(at, blocks, form);
    }
    const separator_place found = { index_position(at, form, e), index_separator(count, shift, form, at.level, e) };
    return found;
}

ORDO_KERNEL(INDEX_GROUP)
void index_build(__global const ordo_key *keys, ulong keys_at, uint count, uint shift, __global separator *nodes,
                 ulong nodes_at, uint entries)
{
    const index_window window = index_window_of(keys + keys_at, count);

    for (uint e = get_global_id(0); e < entries; e += get_global_size(0)) {
        const separator_place s = separator_place_of(count, shift, e);
        nodes[nodes_at + s.position] = separator_of_key(window, key_bits(keys[keys_at + s.element]));
    }
}

/* Sets *wrong to the number of the first incorrect separator. *wrong must be 0xffffffff before. */
ORDO_KERNEL(INDEX_GROUP)
void index_check(__global const ordo_key *keys, ulong keys_at, uint count, uint shift, __global const separator *nodes,
                 ulong nodes_at, uint entries, __global uint *wrong)
{
    const index_window window = index_window_of(keys + keys_at, count);

    for (uint e = get_global_id(0); e < entries; e += get_global_size(0)) {
        const separator_place s = separator_place_of(count, shift, e);
        if (nodes[nodes_at + s.position] != separator_of_key(window, key_bits(keys[keys_at + s.element])))
            ordo_min(wrong, e);
    }
}

#if KEY_BITS <= 64
ORDO_FN ordo_key_form pack_last(__global const ordo_key *keys, uint count, uint b)
{
    return key_bits(keys[min(b * PACK_KEYS + (PACK_KEYS - 1), count - 1)]);
}
ORDO_FN ordo_key_form pack_base(__global const ordo_key *keys, uint b)
{
    return b == 0 ? 0 : key_bits(keys[b * PACK_KEYS - 1]);
}

ORDO_FN uint pack_width(ordo_key_form difference)
{
#if KEY_BITS == 64
    if (difference >> 32)
        return 8;
#endif
    return difference >> 16 ? 4 : difference >> 8 ? 2 : 1;
}

/* Sets widths[b] to the bytes per compressed key of block b, and *widest to the maximum. *widest must be 0 before. */
ORDO_KERNEL(INDEX_GROUP)
void index_widths(__global const ordo_key *keys, ulong keys_at, uint count, uint blocks, __global uint *widths,
                  __global uint *widest)
{
    keys += keys_at;
    for (uint b = get_global_id(0); b < blocks; b += get_global_size(0)) {
        const uint width = pack_width(pack_last(keys, count, b) - pack_base(keys, b));
        widths[b] = width;
        if (ordo_load_relaxed(widest) < width)
            ordo_max(widest, width);
    }
}

/* Writes each key as its difference from the previous block's last key (pack_base). Each difference has `width` bytes.
 * If `width` is 0, blocks have different widths. Block b then begins at byte 16 * offsets[b] of `packed`. */
ORDO_KERNEL(INDEX_GROUP)
void index_pack(__global const ordo_key *keys, ulong keys_at, uint count, uint blocks, __global const uint *offsets,
                uint width, __global uchar *packed)
{
    keys += keys_at;
    for (ulong i = get_global_id(0); i < (ulong) blocks * PACK_KEYS; i += get_global_size(0)) {
        const uint          b = (uint) (i / PACK_KEYS);
        const uint          here = width ? width : offsets[b + 1] - offsets[b];
        const ulong         unit = width ? (ulong) b * width : offsets[b];
        const ordo_key_form key = key_bits(keys[min(i, (ulong) count - 1)]);
        const ordo_key_form difference = key - pack_base(keys, b);
        __global uchar     *at = packed + unit * 16 + i % PACK_KEYS * here;

        switch (here) {
        case 1:
            *at = (uchar) difference;
            break;
        case 2:
            *(__global ushort *) at = (ushort) difference;
            break;
        case 4:
            *(__global uint *) at = (uint) difference;
            break;
        default:
            *(__global ordo_key_form *) at = difference;
        }
    }
}
#endif
