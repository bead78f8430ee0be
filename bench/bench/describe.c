/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

static void print_variants(enum workload workload, int indent)
{
    char   names[200] = "";
    size_t used = 0;
    for (int v = 0; variant_name(workload, v) && variant_name(workload, 1); v++)
        used +=
            (size_t) snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", variant_name(workload, v));
    if (used)
        say(stdout, indent, "%*s%s", indent, "", names);
}

void print_list(void)
{
    char selected[SELECTED_MAX][SELECT_BYTES];
    puts("Workloads and their variants:");
    for (int w = 0; w < N_ALL_WORKLOADS; w++) {
        say(stdout, 22, "  %-18s  %s", workload_name((enum workload) w), workload_text((enum workload) w));
        print_variants((enum workload) w, 22);
    }
    const int n = select_devices("all", selected);
    printf("Devices (ordo-info says more):%s\n", n ? "" : " none");
    for (int i = 0; i < n; i++) {
        ordo_device *device = NULL;
        if (ordo_device_open(&(struct ordo_device_config) { .select = selected[i], .no_self_test = true }, &device) ==
            ORDO_OK)
            say(stdout, 7, "  %s  %s", selected[i], ordo_device_facts(device)->name);
        ordo_device_close(&device);
    }
}

/* The limit of each workload, in terms of the device's limits. */
static const char *const limits[N_ALL_WORKLOADS] = {
    [SORT] = "the copy rate over its passes, one for each digit of some 8 bits; \"copy\" counts one",
    [MERGE] = "the copy rate: every key and value is read and written once",
    [MERGE_RUNS] = "the copy rate: every key and value is read and written once, however many runs there are",
    [SCAN] = "the copy rate: every element is read and written once",
    [REDUCE] = "the rate of reading, up to the copy rate: every element is read once",
    [COMPACT] = "the copy rate: flags, keys and values are read, what is kept is written",
    [COLUMNS] = "as sort, and the copy rate: columns are read, and keys written, once",
    [READROARING] = "reads of the bytes, to check and to store them; of few bytes the launches and waits",
    [WRITEROARING] = "reads of the HAMT, and a write of the bytes; of few bytes the launches and waits",
    [SORTSTRINGS] = "reads of each string up to the byte that tells it from all others, and sorts of keys of u64",
    [INDEXSTRINGS] = "as sortstrings, and a read of neighbours up to their first difference",
    [FINDSTRINGS] = "a gather of 64 bytes for each level that no cache holds, and gathers of the query and one string",
    [PREFIXSTRINGS] = "as findstrings; levels are read twice",
    [UPSERTSTRINGS] = "as indexstrings for each batch, searches in all runs, and reads and writes of merged strings",
    [ERASESTRINGS] = "as findstrings in each run, and 2 bits for each string; of small batches the waits",
    [GETSTRINGS] = "as findstrings in each run, and gathers of marks and values",
    [RANKSTRINGS] = "as findstrings, twice, in each run",
    [COUNTSTRINGS] = "as prefixstrings in each run",
    [SEARCH] = "a gather for each level of the index that no cache holds; of sorted queries the copy rate",
    [LOOKUP] = "as search, and a gather of 32 bytes for each value",
    [FILLRANDOM] = "an LSM copies all once per doubling, a tree gathers leaves, an array copies all per batch",
    [FILLSEQ] = "as fillrandom",
    [BUILD] = "a sort, and the copy rate: what was sorted is read and written once more",
    [OVERWRITE] = "as fillrandom, with all elements there",
    [DELETERANDOM] = "as overwrite",
    [INSERTRANDOM] = "as one batch of fillrandom; of small batches the launches: some ten for a call",
    [READRANDOM] = "a gather of a leaf and one of a value for each key and run; of small ones from cache",
    [READMISSING] = "as readrandom without the value",
    [SEEKRANDOM] = "as readrandom",
    [PREDECESSOR] = "as readrandom",
    [COUNTRANDOM] = "two searches for each interval",
    [RANGERANDOM] = "as countrandom, and what is found is copied",
    [RANKRANDOM] = "as readrandom without the value; in an LSM of several runs a search in each",
    [SELECTRANDOM] = "a gather in a sorted array; in a tree a search among its leaves",
    [SEEKWITHIN] = "as seekrandom",
    [PAGERANDOM] = "a search for each page, and what is found is copied",
    [SUMRANDOM] = "as rangerandom, of values alone",
    [LONGESTPREFIX] = "as readrandom, and a gather of what each prefix lies in; of other structures a predecessor",
    [COUNTPREFIX] = "a gather or two; of other structures as countrandom",
    [CONCURRENTREAD] = "as readrandom, with loads that allow for writers",
    [READWHILEWRITING] = "as its halves: insertrandom and readrandom",
    [MIXED] = "operations are sorted by key first; then as their parts",
    [MIXEDSEEKS] = "as mixed",
    [MIXEDPOINTS] = "as mixed",
    [MIXEDUPDATES] = "as mixed",
    [COMBINERANDOM] = "as overwrite, and a find",
    [DELETERANGE] = "as rangerandom and deleterandom",
    [QUEUE] = "the launches and waits of two calls a round",
    [EXPIRY] = "as fillrandom and deleterandom, in batches",
    [ORDERBOOK] = "of small batches the launches and waits of three calls a round",
    [CLEANUP] = "the copy rate: what lives is read and written once",
    [COMPACTALL] = "as cleanup",
    [CONCURRENTFILL] = "two or three gathers of nodes and an atomic operation for each element",
    [CONCURRENTBATCHES] = "as concurrentfill",
    [CONCURRENTINSERT] = "as concurrentfill",
    [CONCURRENTERASE] = "as concurrentfill",
    [CONCURRENTMIX] = "as its parts: concurrentfill and concurrentread",
    [CONCURRENTRANGES] = "as concurrentmix, and what is found is copied",
    [HOSTSORT] = "the rates to the device and back, one after the other; then as sort",
    [HOSTBUILD] = "the rate to the device; then as build",
    [HOSTINSERT] = "as insertrandom, and the rate to the device; of small batches the wait for each call",
    [HOSTREAD] = "the rates to the device, of keys, and back, of values and whether they are there",
    [HOSTEXPORT] = "the rate back from the device",
    [CONCURRENTPOINTS] = "as concurrentmix; on few keys operations are in each other's way",
};

void print_description(void)
{
    for (int w = 0; w < N_ALL_WORKLOADS; w++) {
        printf("%s%s\n", w ? "\n" : "", workload_name((enum workload) w));
        say(stdout, 11, "  does     %s", workload_text((enum workload) w));
        print_variants((enum workload) w, 11);
        if (limits[w])
            say(stdout, 11, "  limit    %s", limits[w]);
    }
}
