/* SPDX-License-Identifier: Apache-2.0 */
/* Eight processes use one device, one cache and one profile concurrently. Some of them have small allocations only. */
#define _GNU_SOURCE
#include "tests/dict/structures.h"
#include "tests/support/support.h"

#include "runtime/internal.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 8, ROUNDS = 3, N = 3000 };

static const char *const masks[] = { NULL, "alloc=4000000", "alloc=400000" };

TestSuite(processes, .init = test_host_code);

/* Exits with the line number if a call fails, because an assertion ends only the process that started the test. */
#define REQUIRE(cond)                                                                                                  \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            (void) fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                                  \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void use_structure(ordo_device *dev, int structure, uint32_t first)
{
    static uint32_t      keys[N], values[N], got[N];
    static uint8_t       found[N];
    AUTO_DICT ordo_dict *dict = NULL;
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = (first + i) * 2654435761u; /* no two are equal */
        values[i] = first ^ i;
    }
    REQUIRE(create(dev, structure, ORDO_U32, 4, &dict) == ORDO_OK);
    REQUIRE(ordo_dict_upsert_host(dict, keys, values, N) == ORDO_OK);
    REQUIRE(ordo_dict_erase_host(dict, keys, N / 3) == ORDO_OK);
    REQUIRE(ordo_dict_find_host(dict, keys, N, got, found) == ORDO_OK);
    for (uint32_t i = 0; i < N; i++)
        REQUIRE(found[i] == (i >= N / 3) && (!found[i] || got[i] == values[i]));
    REQUIRE(ordo_dict_compact(dict, NULL) == ORDO_OK && ordo_dict_check(dict, NULL) == ORDO_OK);
}

/* Programs are kept in the cache even if the driver keeps them too. */
static void use_device(uint32_t number)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const struct ordo_device_config config = { .mask = masks[number % (sizeof masks / sizeof *masks)] };
        AUTO_DEVICE ordo_device        *dev = NULL;
        REQUIRE(ordo_device_open(&config, &dev) == ORDO_OK);
        dev->facts.own_binary_cache = false;
        REQUIRE(ordo_device_set_tunable(dev, "sort.small_items", round & 1 ? 4 : 8) == ORDO_OK);
        REQUIRE(ordo_device_save_profile(dev, NULL, 0) == ORDO_OK);
        for (int s = 0; s < N_STRUCTURES; s++)
            use_structure(dev, s, (number * ROUNDS + round) * N);
    }
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void) info;
    (void) type;
    (void) where;
    return remove(path);
}

Test(processes, share_a_device_a_cache_and_a_profile)
{
    char  dir[] = "/tmp/ordo-processes-XXXXXX", profile[64];
    pid_t child[PROCESSES];
    cr_assert(mkdtemp(dir) != NULL);
    snprintf(profile, sizeof profile, "%s/profile", dir);
    cr_assert(setenv("ORDO_CACHE", dir, 1) == 0 && setenv("ORDO_PROFILE", profile, 1) == 0);
    for (uint32_t i = 0; i < PROCESSES; i++)
        if ((child[i] = fork()) == 0) {
            use_device(i);
            _exit(0);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        cr_expect(child[i] > 0 && waitpid(child[i], &status, 0) == child[i] && status == 0, "process %d: status 0x%x",
                  i, (unsigned) status);
    }
    (void) nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
