/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by ordo-peer and ordo-peer-cl: the command line, the timing and the printed rows (see peers.c). */
#pragma once

extern "C" {
#include "bench/workload/inputs.h"
#include "bench/workload/keys.h"
}

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using Call = std::function<void()>;

/* A library on a point: the timed call and its check, which writes the reason if the result is wrong. `prepare` runs
 * untimed before each call, unless it is empty. */
struct Peer {
    const char                    *name;
    Call                           call;
    std::function<bool(char *why)> is_right;
    Call                           prepare = {};
};

struct Times {
    double wall, device, cpu; /* seconds a call; device: 0 without a clock; cpu: of all processors in this process */
};

/* `time` makes n calls and waits for the device; Times::cpu is added here. */
struct Clocks {
    Call                                          wait;
    std::function<Times(const Call &call, int n)> time;
};

/* Matches timing.c. A batch takes at least 20 ms. The result is the median of up to 20 batches, of `cpu` the least. */
static const double batch_seconds = 0.02;
static const int    most_batch = 4096, most_repetitions = 20;

inline double median(std::vector<double> list)
{
    std::sort(list.begin(), list.end());
    const size_t n = list.size();
    return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

/* Peers with `prepare` run one call a batch. */
inline Times time_peer(const Clocks &clocks, const Peer &peer, double seconds)
{
    const auto run = [&](int n) {
        if (peer.prepare) {
            peer.prepare();
            clocks.wait();
        }
        const std::clock_t before = std::clock();
        Times              times = clocks.time(peer.call, n);
        times.cpu = (double) (std::clock() - before) / CLOCKS_PER_SEC / n;
        return times;
    };
    int n = 1;
    run(1); /* loads the kernels */
    Times  times = run(n);
    double cpu = times.cpu;
    while (!peer.prepare && times.wall * n < batch_seconds && n * 2 <= most_batch) {
        n *= 2;
        times = run(n);
    }
    const int repetitions = (int) std::max(3.0, std::min(seconds / (times.wall * n), (double) most_repetitions));
    std::vector<double> wall, device;
    for (int r = 0; r < repetitions; r++) {
        times = run(n);
        wall.push_back(times.wall);
        device.push_back(times.device);
        cpu = std::min(cpu, times.cpu);
    }
    return { median(wall), median(device), cpu };
}

/* `more`: further fields, as JSON. A peer that failed has no times. */
inline void print_row(const struct spec &spec, const Peer &peer, const Times *times, const char *check, std::string why,
                      const std::string &more)
{
    const double operations = (double) spec_operations(&spec);
    for (char &c : why)
        c = c < ' ' || c == '"' || c == '\\' ? '\'' : c;
    printf("{\"count\": %zu, \"name\": \"%s\", \"check\": \"%s\", ", spec.count, peer.name, check);
    if (times)
        printf("\"rate\": %.6g, \"wall_s\": %.6g, \"cpu_s\": %.6g, ", operations / times->wall, times->wall,
               times->cpu);
    if (times && times->device > 0)
        printf("\"device_rate\": %.6g, \"device_s\": %.6g, ", operations / times->device, times->device);
    if (!why.empty())
        printf("\"why\": \"%s\", ", why.c_str());
    printf("%s}\n", more.c_str());
    fflush(stdout);
}

/* Times a peer, checks its last result, and prints both. */
inline void run_peer(const Clocks &clocks, const struct spec &spec, const Peer &peer, double seconds,
                     const std::string &more)
{
    char why[WHY_BYTES] = "";
    try {
        const Times times = time_peer(clocks, peer, seconds);
        const bool  right = peer.is_right(why);
        print_row(spec, peer, &times, right ? "ok" : "WRONG", why, more);
    } catch (const std::exception &error) {
        print_row(spec, peer, nullptr, "failed", error.what(), more);
    }
}

inline std::shared_ptr<struct inputs> make_inputs(const struct spec &spec)
{
    const std::shared_ptr<struct inputs> in(new inputs(), [](struct inputs *p) {
        inputs_free(p);
        delete p;
    });
    if (!inputs_make(&spec, in.get()))
        throw std::bad_alloc();
    return in;
}

/* The words of peers.c: SECONDS PLATFORM:DEVICE NAME POINT COUNT... */
struct Question {
    double              seconds; /* for each count */
    unsigned            platform, device;
    const char         *device_name;
    struct spec         spec; /* without count */
    std::vector<size_t> counts;
};

inline int number_of(const char *word, int n, const char *(*name)(int) )
{
    for (int i = 0; i < n; i++)
        if (strcmp(word, name(i)) == 0)
            return i;
    throw std::runtime_error(std::string("unknown: ") + word);
}

inline Question read_question(int argc, char **argv)
{
    enum { COUNTS_AT = 14 };
    Question q = {};
    if (argc <= COUNTS_AT || sscanf(argv[2], "%u:%u", &q.platform, &q.device) != 2)
        throw std::runtime_error("ordo-bench --peers runs this");
    q.seconds = atof(argv[1]) / (argc - COUNTS_AT);
    q.device_name = argv[3];
    char       **word = argv + 4;
    const auto   number = [&] { return strtoull(*word++, nullptr, 10); };
    struct spec &spec = q.spec;
    spec.workload =
        (enum workload) number_of(*word++, N_ALL_WORKLOADS, [](int i) { return workload_name((enum workload) i); });
    const std::string variant = *word++;
    for (int v = 0; variant_name(spec.workload, v); v++)
        if (variant == variant_name(spec.workload, v))
            spec.variant = v;
    spec.type = (ordo_type) number_of(*word++, N_TYPES, type_name);
    spec.dist = (enum dist) number_of(*word++, N_DISTS, dist_name);
    spec.value_bytes = (uint32_t) number();
    spec.n_queries = number();
    spec.batch = number();
    spec.hit_percent = (uint32_t) number();
    spec.load_percent = (uint32_t) number();
    spec.seed = number();
    for (int i = COUNTS_AT; i < argc; i++)
        q.counts.push_back(number());
    return q;
}
