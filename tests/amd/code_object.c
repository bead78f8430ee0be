/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a code object: an ELF file with a note of metadata in MessagePack, and a descriptor for each kernel. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- MessagePack --------------------------------------------------------------------------------------------- */

/* A place in a text; at == NULL once something was wrong. */
struct reader {
    const unsigned char *at, *end;
};

static uint64_t big_endian(struct reader *r, unsigned bytes)
{
    uint64_t value = 0;
    if (!r->at || r->end - r->at < (ptrdiff_t) bytes) {
        r->at = NULL;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | *r->at++;
    return value;
}

enum what { IS_NUMBER, IS_TEXT, IS_LIST, IS_MAP, IS_OTHER };
struct item {
    enum what   what;
    uint64_t    number; /* or how many bytes, elements, pairs */
    const char *text;
};

static struct item text_item(struct reader *r, uint64_t bytes)
{
    const struct item item = { IS_TEXT, bytes, (const char *) r->at };
    if (!r->at || (uint64_t) (r->end - r->at) < bytes)
        r->at = NULL;
    else
        r->at += bytes;
    return item;
}

/* The next item; of a list or map only its head. */
static struct item next_item(struct reader *r)
{
    const unsigned head = (unsigned) big_endian(r, 1);
    if (head < 0x80 || head >= 0xe0)
        return (struct item) { IS_NUMBER, head < 0x80 ? head : (uint64_t) (int64_t) (int8_t) head, NULL };
    if (head < 0x90)
        return (struct item) { IS_MAP, head & 15, NULL };
    if (head < 0xa0)
        return (struct item) { IS_LIST, head & 15, NULL };
    if (head < 0xc0)
        return text_item(r, head & 31);
    switch (head) {
    case 0xc0:
    case 0xc2:
        return (struct item) { IS_NUMBER, 0, NULL };
    case 0xc3:
        return (struct item) { IS_NUMBER, 1, NULL };
    case 0xcc:
    case 0xd0:
        return (struct item) { IS_NUMBER, big_endian(r, 1), NULL };
    case 0xcd:
    case 0xd1:
        return (struct item) { IS_NUMBER, big_endian(r, 2), NULL };
    case 0xce:
    case 0xd2:
        return (struct item) { IS_NUMBER, big_endian(r, 4), NULL };
    case 0xcf:
    case 0xd3:
        return (struct item) { IS_NUMBER, big_endian(r, 8), NULL };
    case 0xc4:
    case 0xd9:
        return text_item(r, big_endian(r, 1));
    case 0xc5:
    case 0xda:
        return text_item(r, big_endian(r, 2));
    case 0xdb:
        return text_item(r, big_endian(r, 4));
    case 0xdc:
        return (struct item) { IS_LIST, big_endian(r, 2), NULL };
    case 0xdd:
        return (struct item) { IS_LIST, big_endian(r, 4), NULL };
    case 0xde:
        return (struct item) { IS_MAP, big_endian(r, 2), NULL };
    case 0xdf:
        return (struct item) { IS_MAP, big_endian(r, 4), NULL };
    default:
        r->at = NULL;
        return (struct item) { IS_OTHER, 0, NULL };
    }
}

static void skip_value(struct reader *r)
{
    uint64_t left = 1;
    while (left && r->at) {
        const struct item item = next_item(r);
        left--;
        left += item.what == IS_LIST ? item.number : item.what == IS_MAP ? 2 * item.number : 0;
    }
}

static bool is(struct item item, const char *text)
{
    return item.what == IS_TEXT && item.number == strlen(text) && memcmp(item.text, text, item.number) == 0;
}

static void copy_text(char *to, size_t room, struct item from)
{
    const size_t n = from.what == IS_TEXT && from.number < room ? (size_t) from.number : 0;
    memcpy(to, from.text ? from.text : "", n);
    to[n] = 0;
}

/* ---- metadata ------------------------------------------------------------------------------------------------ */

static void read_argument(struct reader *r, struct kernel_info *k)
{
    struct argument   a = { .kind = ARGUMENT_HIDDEN };
    const struct item map = next_item(r);
    for (uint64_t i = 0; i < map.number && r->at; i++) {
        const struct item key = next_item(r);
        if (is(key, ".offset"))
            a.offset = (uint32_t) next_item(r).number;
        else if (is(key, ".size"))
            a.bytes = (uint32_t) next_item(r).number;
        else if (is(key, ".value_kind")) {
            const struct item kind = next_item(r);
            copy_text(a.hidden, sizeof a.hidden, kind);
            a.kind = is(kind, "by_value")                 ? ARGUMENT_VALUE
                     : is(kind, "global_buffer")          ? ARGUMENT_BUFFER
                     : is(kind, "dynamic_shared_pointer") ? ARGUMENT_LOCAL
                                                          : ARGUMENT_HIDDEN;
        } else
            skip_value(r);
    }
    if (k->n == ARGS_MAX)
        r->at = NULL;
    else
        k->arguments[k->n++] = a;
    if (a.kind != ARGUMENT_HIDDEN)
        k->n_given = k->n;
}

static void read_kernel(struct reader *r, struct kernel_info *k)
{
    const struct item map = next_item(r);
    k->max_group = MAX_GROUP;
    for (uint64_t i = 0; i < map.number && r->at; i++) {
        const struct item key = next_item(r);
        if (is(key, ".name"))
            copy_text(k->name, sizeof k->name, next_item(r));
        else if (is(key, ".kernarg_segment_size"))
            k->argument_bytes = (uint32_t) next_item(r).number;
        else if (is(key, ".group_segment_fixed_size"))
            k->local_bytes = (uint32_t) next_item(r).number;
        else if (is(key, ".private_segment_fixed_size"))
            k->private_bytes = (uint32_t) next_item(r).number;
        else if (is(key, ".max_flat_workgroup_size"))
            k->max_group = (uint32_t) next_item(r).number;
        else if (is(key, ".reqd_workgroup_size")) {
            const struct item list = next_item(r);
            for (uint64_t d = 0; d < list.number && r->at; d++) {
                const uint32_t size = (uint32_t) next_item(r).number;
                if (d < 3)
                    k->fixed[d] = size;
            }
        } else if (is(key, ".args")) {
            const struct item list = next_item(r);
            for (uint64_t a = 0; a < list.number && r->at; a++)
                read_argument(r, k);
        } else
            skip_value(r);
    }
}

static bool read_metadata(struct reader r, struct code_object *out)
{
    const struct item map = next_item(&r);
    for (uint64_t i = 0; i < map.number && r.at; i++) {
        const struct item key = next_item(&r);
        if (!is(key, "amdhsa.kernels")) {
            skip_value(&r);
            continue;
        }
        const struct item list = next_item(&r);
        if (list.number > 4096)
            return false;
        out->kernels = calloc(list.number + 1, sizeof *out->kernels);
        for (uint64_t k = 0; out->kernels && k < list.number && r.at; k++)
            read_kernel(&r, &out->kernels[out->n++]);
    }
    return r.at && out->kernels;
}

/* ---- ELF ----------------------------------------------------------------------------------------------------- */

static uint64_t field(const char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* A section as far as it lies within the file. */
struct section {
    const char *name;
    uint64_t    offset, bytes, link;
};

static bool section_at(const char *elf, size_t bytes, uint64_t i, struct section *out)
{
    const uint64_t headers = field(elf + 40, 8), n = field(elf + 60, 2), names = field(elf + 62, 2);
    if (i >= n || names >= n || headers > bytes || n * 64 > bytes - headers)
        return false;
    const char    *s = elf + headers + 64 * i, *table = elf + headers + 64 * names;
    const uint64_t start = field(table + 24, 8), room = field(table + 32, 8), name = field(s, 4);
    *out = (struct section) { "", field(s + 24, 8), field(s + 32, 8), field(s + 40, 4) };
    if (start > bytes || room > bytes - start || name >= room || elf[start + room - 1])
        return false;
    out->name = elf + start + name;
    return field(s + 4, 4) == 8 /* without content */ || (out->offset <= bytes && out->bytes <= bytes - out->offset);
}

static bool find_section(const char *elf, size_t bytes, const char *name, struct section *out)
{
    for (uint64_t i = 0; i < field(elf + 60, 2); i++)
        if (section_at(elf, bytes, i, out) && strcmp(out->name, name) == 0)
            return true;
    return false;
}

/* Where the kernel's descriptor will lie. */
static bool find_descriptor(const char *elf, size_t bytes, struct kernel_info *k)
{
    struct section symbols, strings;
    char           want[80];
    (void) snprintf(want, sizeof want, "%s.kd", k->name);
    if (!find_section(elf, bytes, ".symtab", &symbols) || !section_at(elf, bytes, symbols.link, &strings))
        return false;
    for (uint64_t at = 0; at + 24 <= symbols.bytes; at += 24) {
        const char    *s = elf + symbols.offset + at;
        const uint64_t name = field(s, 4);
        if (name + strlen(want) < strings.bytes && strcmp(elf + strings.offset + name, want) == 0) {
            k->descriptor = field(s + 8, 8);
            return true;
        }
    }
    return false;
}

bool code_object_read(const char *elf, size_t bytes, unsigned machine, struct code_object *out)
{
    enum { OF_AMDGPU = 224 };
    struct section notes;
    memset(out, 0, sizeof *out);
    if (bytes < 64 || memcmp(elf, "\177ELF\2\1", 6) != 0 || field(elf + 18, 2) != OF_AMDGPU ||
        field(elf + 48, 4) % 256 != machine || !find_section(elf, bytes, ".note", &notes) || notes.bytes < 12)
        return false;
    const char    *note = elf + notes.offset;
    const uint64_t name = (field(note, 4) + 3) & ~(uint64_t) 3, length = field(note + 4, 4);
    if (name > notes.bytes - 12 || length > notes.bytes - 12 - name)
        return false;
    const unsigned char *text = (const unsigned char *) note + 12 + name;
    bool                 good = read_metadata((struct reader) { text, text + length }, out);
    for (unsigned i = 0; good && i < out->n; i++)
        good = find_descriptor(elf, bytes, &out->kernels[i]);
    if (!good)
        code_object_free(out);
    return good;
}

void code_object_free(struct code_object *co)
{
    free(co->kernels);
    memset(co, 0, sizeof *co);
}
