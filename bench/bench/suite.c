/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <stdlib.h>
#include <string.h>

/* Options of each part, and sizes on a GPU and on a CPU ("": none). */
struct part {
    const char *words, *gpu, *cpu;
};

static const struct part suite[] = {
    /* Arrays: sizes, types, values, distributions. */
    { "-w sort,merge,scan,reduce,compact", "12,16,20,24,27", "12,16,20,22" },
    { "-w search,lookup --variant random+index,random,sorted", "12,16,20,24,27", "12,16,20" },
    { "-w sort -v 0,8 --no-host", "20,24", "20" },
    { "-w sort,merge -t u64 -v 0,4,8 --no-host", "16,20,24,26", "16,20" },
    { "-w sort,lookup --variant random+index -D clustered,zipf --no-host", "24", "20" },
    { "-w merge_runs --variant 8-runs --no-host", "20,24", "20" },
    /* Dictionaries: updates over the batch, queries over the size and over fills. */
    { "-w fillrandom --batch 18,20,22 --no-host", "24", "" },
    { "-w fillrandom --batch 10,12,14,16 --no-host", "20", "" },
    { "-w fillrandom --batch 14,16,18", "", "18" },
    { "-w fillrandom --batch 8,10,12", "", "14" },
    { "-w readrandom --fills 4 -q 22", "20,24,26", "" },
    { "-w readmissing,seekrandom,countrandom,rangerandom --fills 4 -q 20", "20,24", "" },
    { "-w readrandom --fills 4 -q 16", "", "16,18,20" },
    { "-w readmissing,seekrandom,countrandom,rangerandom --fills 4 -q 16", "", "18" },
    { "-w readrandom -D clustered,zipf --fills 1 --no-host -q 20", "24", "18" },
    { "-w prefix -s xfast --fills 1 --no-host -q 20", "20", "" },
    { "-w prefix -s xfast --fills 1 --no-host -q 14", "", "14" },
    { "-w overwrite,deleterandom,mixed,readwhilewriting --no-host", "22", "16" },
    { "-w cleanup,compactall --no-host", "22", "16" },
    { "-w concurrentfill,concurrentread,concurrentmix --fills 1 --batch 20 -q 20 --no-host", "24", "" },
    { "-w concurrentfill,concurrentread,concurrentmix --fills 1 --batch 14 -q 14 --no-host", "", "16" },
    /* End to end, with arrays in host memory. */
    { "-w hostsort --no-host", "16,20,24,27", "12,16,20" },
    { "-w hostbuild,hostexport -s sorted_array,lsm,hash --no-host", "20,24", "16" },
    { "-w hostread -s sorted_array,lsm,hash --fills 1 --no-host --no-array -q 20", "20,24", "" },
    { "-w hostread -s sorted_array,lsm,hash --fills 1 --no-host --no-array -q 16", "", "16" },
    { "-w hostinsert -s sorted_array,lsm,blink,hash --batch =1,10,20 --no-host", "20", "" },
    { "-w hostinsert -s sorted_array,lsm,blink,hash --batch =1,10,14 --no-host", "", "16" },
    /* Latency: small batches. */
    { "-w insertrandom --batch =1,=32,10,15,20 --no-host", "20", "16" },
    { "-w readrandom --fills 1 -q =1 --no-host --no-array", "20", "16" },
    { "-w readrandom --fills 1 -q =1000 --no-host --no-array", "20", "16" },
    /* Other keys and values, with kernels of their own. */
    { "-w fillrandom,readrandom -v 0,8 --fills 1 --no-host -q 20", "24", "18" },
    { "-w fillrandom,readrandom -t u64 -v 4,8 --fills 1 --no-host -q 20", "24", "18" },
    /* First use with empty and filled caches; first_measure reads the options of the last part. */
    { "-w open", "20", "16" },
};

int suite_parts(int argc, char **argv, bool cpu, struct options parts[SUITE_PARTS_MAX])
{
    const char **how = calloc((size_t) argc * 2 + 1, sizeof *how);
    int          n = 0;
    if (!how)
        usage_error("out of memory");
    const int n_all = repeat_options(argc, argv, false, NULL, how);
    const int n_how = repeat_options(argc, argv, true, NULL, how);
    if (n_how < n_all)
        usage_error("'suite' selects the measurements itself: use no options that select them");
    for (size_t p = 0; p < sizeof suite / sizeof *suite && n < SUITE_PARTS_MAX; p++) {
        const char *sizes = cpu ? suite[p].cpu : suite[p].gpu;
        if (*sizes) {
            char text[400];
            snprintf(text, sizeof text, "%s --sizes %s", suite[p].words, sizes);
            parts[n++] = options_of(argv[0], how, n_how, text);
        }
    }
    return n;
}
