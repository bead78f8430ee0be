/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare.h"

#include "bench/common/complain.h"
#include "bench/common/terminal.h"
#include "bench/common/text.h"
#include "ordo/ordo.h"

#include <stdio.h>
#include <string.h>

/* What the words of the list stand for. */
static const struct {
    const char *word;
    uint32_t    what, keys, value_bytes;
} words[] = {
    { "all", 0, 0, 0 },
    { "sort", ORDO_PREPARE_SORT, 0, 0 },
    { "merge", ORDO_PREPARE_MERGE, 0, 0 },
    { "scan", ORDO_PREPARE_SCAN, 0, 0 },
    { "search", ORDO_PREPARE_SEARCH, 0, 0 },
    { "sorted_array", ORDO_PREPARE_SORTED_ARRAY, 0, 0 },
    { "lsm", ORDO_PREPARE_LSM, 0, 0 },
    { "blink", ORDO_PREPARE_BLINK, 0, 0 },
    { "u32", 0, 1u << ORDO_U32, 0 },
    { "u64", 0, 1u << ORDO_U64, 0 },
    { "i32", 0, 1u << ORDO_I32, 0 },
    { "i64", 0, 1u << ORDO_I64, 0 },
    { "f32", 0, 1u << ORDO_F32, 0 },
    { "f64", 0, 1u << ORDO_F64, 0 },
    { "v0", 0, 0, 1u << 0 },
    { "v4", 0, 0, 1u << 4 },
    { "v8", 0, 0, 1u << 8 },
};

static void add_word(struct ordo_prepare_params *params, const char *word, size_t bytes)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == bytes && memcmp(words[i].word, word, bytes) == 0) {
            params->what |= words[i].what;
            params->keys |= words[i].keys;
            params->value_bytes |= words[i].value_bytes;
            return;
        }
    usage_error(
        "--prepare: '%.*s' is none of all, sort, merge, scan, search, sorted_array, lsm, blink, u32, u64, i32, i64, "
        "f32, f64, v0, v4, v8",
        (int) bytes, word);
}

static bool tell(void *user, size_t done, size_t total)
{
    (void) user;
    progress("%zu of %zu", done, total);
    return true;
}

static struct ordo_prepare_params params_of(const char *list)
{
    struct ordo_prepare_params params = { .progress = tell };
    for (;; list++) {
        const size_t bytes = strcspn(list, ",");
        add_word(&params, list, bytes);
        list += bytes;
        if (!*list)
            return params;
    }
}

void prepare_check(const char *list)
{
    (void) params_of(list);
}

bool prepare_device(const char *list)
{
    const struct ordo_prepare_params params = params_of(list);
    char                             why[4096] = "";
    const struct ordo_device_config  config = { .message = why, .message_bytes = sizeof why };
    struct ordo_prepared             prepared = { 0 };
    ordo_device                     *dev = NULL;
    if (ordo_device_open(&config, &dev) != ORDO_OK) {
        complain("%s", why);
        return false;
    }
    progress_about("preparing kernels for %s", ordo_device_facts(dev)->name);
    const ordo_status got = ordo_device_prepare(dev, &params, &prepared);
    progress_clear();
    if (got != ORDO_OK) {
        (void) ordo_device_last_error(dev, why, sizeof why);
        complain("%s", why);
    }
    printf("%s: %zu programs are ready, %zu could not be built, after %.1f s\n", ordo_device_facts(dev)->name,
           prepared.programs, prepared.failed, prepared.seconds);
    ordo_device_close(&dev);
    return got == ORDO_OK;
}
