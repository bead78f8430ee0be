/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent batch: updates and queries in one launch on a B-link tree. They run in no fixed order. */
#include <ordo/ordo.h>
#include <stdio.h>

static ordo_status run(ordo_device *device, ordo_dict **tree)
{
    const uint64_t accounts[] = { 10, 20, 30 };
    const uint32_t owners[] = { 1, 2, 3 };
    /*                         owner of 10?  erase 20     store 25     next account from 40 on? */
    const uint8_t  codes[] = { ORDO_FIND, ORDO_ERASE, ORDO_UPSERT, ORDO_SEEK_GE };
    const uint64_t keys[] = { 10, 20, 25, 40 };
    const uint32_t values[] = { 0, 0, 9, 0 };
    uint8_t        found[4] = { 0 }, outcomes[4] = { 0 };
    uint32_t       values_out[4] = { 0 };
    uint64_t       keys_out[4] = { 0 };
    size_t         size = 0;

    const struct ordo_host_concurrent_batch batch = {
        .codes = codes,
        .keys = keys,
        .values = values,
        .count = 4,
        .found = found,
        .keys_out = keys_out,
        .values_out = values_out,
        .outcomes = outcomes,
    };
    ordo_status got = ordo_blink_create(device, ordo_blink_config(.dict = { .key = ORDO_U64, .value_bytes = 4 }), tree);
    if (got == ORDO_OK)
        got = ordo_dict_build_host(*tree, accounts, owners, 3);
    if (got == ORDO_OK)
        got = ordo_dict_apply_concurrent_host(*tree, &batch);
    if (got == ORDO_OK)
        got = ordo_dict_size(*tree, NULL, &size);
    if (got == ORDO_OK) {
        printf("account 10 is %u's\n", values_out[0]);
        printf("erased: %s, stored: %s\n", outcomes[1] == ORDO_DONE && found[1] ? "yes" : "no",
               outcomes[2] == ORDO_DONE ? "yes" : "no");
        printf("at or after 40: %s\n", found[3] ? "an account" : "none");
        printf("%zu accounts are left\n", size);
    }
    return got;
}

int main(void)
{
    char         why[1000] = ""; /* the reason of a failure */
    ordo_device *device = NULL;
    ordo_dict   *tree = NULL;

    const struct ordo_device_config config = { .message = why, .message_bytes = sizeof why };
    ordo_status                     got = ordo_device_open(&config, &device);
    if (got == ORDO_OK) {
        got = run(device, &tree);
        ordo_device_last_error(device, why, sizeof why);
    }
    ordo_dict_destroy(&tree);
    ordo_device_close(&device);
    return got == ORDO_OK ? 0 : (fprintf(stderr, "%s\n", why), 1);
}
