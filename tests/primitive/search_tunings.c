/* SPDX-License-Identifier: Apache-2.0 */
/* Searches with every tuning that a profile can select. Each has its kernel, so this takes long on a CPU. */
#include "search_case.h"

#define N_TUNABLES 6
static const char *const names[2][N_TUNABLES] = {
    { "search.k4.node_keys", "search.k4.lanes", "search.k4.group", "search.k4.items", "search.k4.local_keys",
      "search.k4.tile" },
    { "search.k8.node_keys", "search.k8.lanes", "search.k8.group", "search.k8.items", "search.k8.local_keys",
      "search.k8.tile" },
};

/* Random queries through an index, or ascending ones without. */
static bool searches_as_tuned(struct test *t, bool wide, bool sorted)
{
    const struct search_case                  c = { .type = wide ? ORDO_F64 : ORDO_F32,
                                                    .shape = TEST_RANDOM,
                                                    .count = 30000,
                                                    .n_queries = 9001,
                                                    .at = 3,
                                                    .sorted = sorted,
                                                    .hint = sorted,
                                                    .index = !sorted,
                                                    .value_bytes = 4 };
    AUTO(free_search_data) struct search_data d = make_search_data(t, &c);
    const bool                                ran = check_lookup(t, &c, &d, true);

    return ran;
}

/* Sets the tunables from the k-th on to every combination of their values. */
static size_t try_from(struct test *t, bool wide, bool sorted, size_t k)
{
    /* lanes and node_keys say nothing to a search of ascending queries, tile nothing to others */
    const bool idle = k < N_TUNABLES && (sorted ? k == 0 || k == 1 || k == 3 : k == N_TUNABLES - 1);
    size_t     ran = 0;

    if (k == N_TUNABLES)
        return searches_as_tuned(t, wide, sorted);
    const struct ordo_tunable_info info = test_tunable(t, t->dev, names[wide][k]);
    for (uint32_t i = 0; i < (idle ? 1 : info.n_choices); i++) {
        test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.choice[i]));
        ran += try_from(t, wide, sorted, k + 1);
    }
    return ran;
}

DEVICE_TEST(search_tunings, every_tuning_gives_the_same_answers)
{
    for (int way = 0; way < 4; way++)
        test_true(t, try_from(t, way & 1, way >> 1, 0) > 0);
}
