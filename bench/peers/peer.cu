/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-peer: CUB and Thrust on the workloads of ordo-bench, with the same inputs, checks and batches, timed by the
 * host's clock and CUDA events; for dictionaries a GPU LSM of CUB calls, and hash tables (peer_hash.cu). ordo-bench
 * --peers runs it. It prints a line of JSON per size, none for other workloads. Temporary storage is allocated
 * before the timing. */
#include "bench/workload/inputs.h"
#include "bench/workload/keys.h"
#include "bench/workload/workload.h"
#include "peer.hpp"

#include <cub/device/device_merge.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/* Keys and values of one run. */
struct Pairs {
    Array keys, values;
};

struct Arrays {
    Array keys, values, flags, queries;              /* inputs */
    Array keys_out, values_out, ranks, found, total; /* outputs */
    Array keys_spare, values_spare;                  /* for several passes */
    Array temporary;

    std::vector<Pairs> levels, carries; /* for the LSM */

    Array rows, uppers, counts; /* for gather, equal_range, groupby */
};

static Arrays make_arrays(const struct spec &spec, const struct inputs &in)
{
    const size_t key = spec.type == ORDO_U32 ? 4 : 8, count = spec.count, queries = spec.n_queries;
    const bool   searching = workload_has_queries(spec.workload), lookup = spec.workload == LOOKUP;
    const bool   passes = spec.workload == MERGE_RUNS || spec.workload == GROUPBY || spec.workload == TOP;
    const size_t row = spec.workload == GATHER ? spec_row_bytes(&spec) : 0;
    return Arrays { Array(count * (row ? 4 : key), in.keys),
                    Array(count * spec.value_bytes, in.values),
                    Array(in.flags ? count : 0, in.flags),
                    Array(searching ? queries * key : 0, in.queries),
                    Array(searching ? 0 : count * (row ? row : key)),
                    Array((lookup ? queries : count) * spec.value_bytes),
                    Array(searching ? queries * 4 : 0),
                    Array(lookup ? queries : 0),
                    Array(8),
                    Array(passes ? count * key : 0),
                    Array(passes ? count * spec.value_bytes : 0),
                    Array(),
                    {},
                    {},
                    Array(count * row, in.rows),
                    Array(spec.workload == EQUAL_RANGE ? queries * 4 : 0),
                    Array(spec.workload == GROUPBY ? count * 4 : 0) };
}

/* ---- the calls ----------------------------------------------------------------------------------------------- */

/* A CUB call: with NULL it returns the size of temporary storage, else it works. */
using CubCall = std::function<cudaError_t(void *temporary, size_t &bytes)>;

static Call with_temporary(Arrays &arrays, const CubCall &cub)
{
    size_t bytes = 0;
    must(cub(nullptr, bytes), "asking for temporary storage");
    arrays.temporary = Array(bytes + 1);
    void *at = arrays.temporary.as<void>();
    return [cub, at, bytes] {
        size_t room = bytes;
        must(cub(at, room), "a CUB call");
    };
}

struct Peer {
    const char *name = nullptr; /* NULL: there is none */
    Call        call;
    bool        ties_may_swap = false;
    Call        finish = {}; /* moves the result to the outputs; not timed */
};

/* A value of 0 bytes. */
struct Nothing {};

template <typename K, typename V> constexpr bool has_values = !std::is_same<V, Nothing>::value;

/* CUB calls with shared temporary storage, of the largest size. */
class Steps {
  public:
    explicit Steps(size_t &bytes) : room_(bytes), bytes_(bytes)
    {
        bytes = 0;
    }
    template <typename Step> void operator()(const Step &step)
    {
        size_t here = room_;
        if (code == cudaSuccess)
            code = step(here);
        bytes_ = std::max(bytes_, here);
    }
    cudaError_t code = cudaSuccess;

  private:
    size_t  room_;
    size_t &bytes_;
};

template <typename K, typename V>
static cudaError_t sort_all(void *t, size_t &bytes, const K *keys, K *keys_out, const V *values, V *values_out,
                            size_t n, bool descending)
{
    if constexpr (has_values<K, V>)
        return descending ? cub::DeviceRadixSort::SortPairsDescending(t, bytes, keys, keys_out, values, values_out, n)
                          : cub::DeviceRadixSort::SortPairs(t, bytes, keys, keys_out, values, values_out, n);
    else
        return descending ? cub::DeviceRadixSort::SortKeysDescending(t, bytes, keys, keys_out, n)
                          : cub::DeviceRadixSort::SortKeys(t, bytes, keys, keys_out, n);
}

template <typename K, typename V> static CubCall sort_call(const struct spec &spec, Arrays &a, bool descending)
{
    return [keys = a.keys.as<K>(), keys_out = a.keys_out.as<K>(), values = a.values.as<V>(),
            values_out = a.values_out.as<V>(), n = spec.count, descending](void *t, size_t &bytes) {
        return sort_all<K, V>(t, bytes, keys, keys_out, values, values_out, n, descending);
    };
}

template <typename K, typename V> static Peer peer_sort(const struct spec &spec, Arrays &a)
{
    return { has_values<K, V> ? "cub::DeviceRadixSort::SortPairs" : "cub::DeviceRadixSort::SortKeys",
             with_temporary(a, sort_call<K, V>(spec, a, false)) };
}

/* CUB in CUDA 13.0 has no top-k call: sorts everything. */
template <typename K, typename V> static Peer peer_top(const struct spec &spec, Arrays &a)
{
    return { has_values<K, V> ? "cub::DeviceRadixSort::SortPairsDescending of all"
                              : "cub::DeviceRadixSort::SortKeysDescending of all",
             with_temporary(a, sort_call<K, V>(spec, a, true)) };
}

/* A run in device memory. */
template <typename K, typename V> struct Run {
    K     *keys;
    V     *values; /* unused without values */
    size_t count;
};

/* Merges two runs, perhaps without values. */
template <typename K, typename V>
static cudaError_t merge_runs(void *t, size_t &bytes, Run<const K, const V> a, Run<const K, const V> b, K *keys_out,
                              V *values_out)
{
    if constexpr (has_values<K, V>)
        return cub::DeviceMerge::MergePairs(t, bytes, a.keys, a.values, (int64_t) a.count, b.keys, b.values,
                                            (int64_t) b.count, keys_out, values_out);
    else
        return cub::DeviceMerge::MergeKeys(t, bytes, a.keys, (int64_t) a.count, b.keys, (int64_t) b.count, keys_out);
}

/* Merges two runs of one array. */
template <typename K, typename V>
static cudaError_t merge_two(void *t, size_t &bytes, const K *keys, const V *values, size_t a, size_t b, K *keys_out,
                             V *values_out)
{
    return merge_runs<K, V>(t, bytes, { keys, values, a }, { keys + a, values + a, b }, keys_out, values_out);
}

template <typename K, typename V> static Peer peer_merge(const struct spec &spec, Arrays &a)
{
    const K     *keys = a.keys.as<K>();
    const V     *values = a.values.as<V>();
    K           *keys_out = a.keys_out.as<K>();
    V           *values_out = a.values_out.as<V>();
    const size_t first = spec_run(&spec, 0).count, second = spec_run(&spec, 1).count;
    return { "cub::DeviceMerge",
             with_temporary(a,
                            [=](void *t, size_t &bytes) {
                                return merge_two<K, V>(t, bytes, keys, values, first, second, keys_out, values_out);
                            }),
             true };
}

/* CUB merges two runs: merges pairs of runs, pass by pass, so that the last pass writes keys_out. */
template <typename K, typename V> static Peer peer_merge_runs(const struct spec &spec, Arrays &a)
{
    struct Step {
        const K *keys;
        const V *values;
        size_t   a, b;
        K       *keys_out;
        V       *values_out;
    };
    std::vector<Step> steps;
    size_t            passes = 0;
    for (size_t runs = spec_runs(&spec); runs > 1; runs /= 2)
        passes++;

    const K *keys = a.keys.as<K>();
    const V *values = a.values.as<V>();
    size_t   length = spec.count / spec_runs(&spec);
    for (size_t pass = 0; pass < passes; pass++, length *= 2) {
        const bool   into_out = (passes - pass) % 2 == 1;
        K           *keys_to = into_out ? a.keys_out.as<K>() : a.keys_spare.as<K>();
        V           *values_to = into_out ? a.values_out.as<V>() : a.values_spare.as<V>();
        const size_t runs = spec_runs(&spec) >> pass;
        for (size_t r = 0; r < runs; r += 2) {
            const size_t at = r * length, both = r + 2 == runs ? spec.count - at : 2 * length;
            steps.push_back({ keys + at, values + at, length, both - length, keys_to + at, values_to + at });
        }
        keys = keys_to;
        values = values_to;
    }
    return { "cub::DeviceMerge, pairs of runs",
             with_temporary(a,
                            [=](void *t, size_t &bytes) {
                                Steps all(bytes);
                                for (const Step &s : steps)
                                    all([&](size_t &here) {
                                        return merge_two<K, V>(t, here, s.keys, s.values, s.a, s.b, s.keys_out,
                                                               s.values_out);
                                    });
                                return all.code;
                            }),
             true };
}

template <typename K> static Peer peer_scan(const struct spec &spec, Arrays &a)
{
    const K     *in = a.keys.as<K>();
    K           *out = a.keys_out.as<K>();
    const size_t n = spec.count;
    return { "cub::DeviceScan::ExclusiveSum", with_temporary(a, [=](void *t, size_t &bytes) {
                 return cub::DeviceScan::ExclusiveSum(t, bytes, in, out, n);
             }) };
}

template <typename K> static Peer peer_reduce(const struct spec &spec, Arrays &a)
{
    const K     *in = a.keys.as<K>();
    K           *out = a.total.as<K>();
    const size_t n = spec.count;
    return { "cub::DeviceReduce::Sum",
             with_temporary(a, [=](void *t, size_t &bytes) { return cub::DeviceReduce::Sum(t, bytes, in, out, n); }) };
}

template <typename K, typename V> static Peer peer_compact(const struct spec &spec, Arrays &a)
{
    const uint8_t *flags = a.flags.as<uint8_t>();
    uint32_t      *kept = a.total.as<uint32_t>();
    const K       *keys = a.keys.as<K>();
    K             *keys_out = a.keys_out.as<K>();
    const size_t   n = spec.count;
    if constexpr (has_values<K, V>) {
        const auto in = thrust::make_zip_iterator(keys, static_cast<const V *>(a.values.as<V>()));
        const auto out = thrust::make_zip_iterator(keys_out, a.values_out.as<V>());
        return { "cub::DeviceSelect::Flagged", with_temporary(a, [=](void *t, size_t &bytes) {
                     return cub::DeviceSelect::Flagged(t, bytes, in, flags, out, kept, n);
                 }) };
    } else {
        return { "cub::DeviceSelect::Flagged", with_temporary(a, [=](void *t, size_t &bytes) {
                     return cub::DeviceSelect::Flagged(t, bytes, keys, flags, keys_out, kept, n);
                 }) };
    }
}

template <typename K> static Peer peer_search(const struct spec &spec, Arrays &a)
{
    const K     *keys = a.keys.as<K>(), *queries = a.queries.as<K>();
    uint32_t    *ranks = a.ranks.as<uint32_t>();
    const size_t n = spec.count, n_queries = spec.n_queries;
    return { "thrust::lower_bound", [=] {
                thrust::lower_bound(thrust::cuda::par_nosync, keys, keys + n, queries, queries + n_queries, ranks);
            } };
}

template <typename K> static Peer peer_equal_range(const struct spec &spec, Arrays &a)
{
    const K     *keys = a.keys.as<K>(), *queries = a.queries.as<K>();
    uint32_t    *ranks = a.ranks.as<uint32_t>(), *uppers = a.uppers.as<uint32_t>();
    const size_t n = spec.count, n_queries = spec.n_queries;
    return { "thrust::lower_bound, upper_bound", [=] {
                thrust::lower_bound(thrust::cuda::par_nosync, keys, keys + n, queries, queries + n_queries, ranks);
                thrust::upper_bound(thrust::cuda::par_nosync, keys, keys + n, queries, queries + n_queries, uppers);
            } };
}

/* A row of `words` words. */
template <size_t words> struct Row {
    uint32_t word[words];
};
template <size_t words> static Peer peer_gather_rows(const struct spec &spec, Arrays &a)
{
    const Row<words> *rows = a.rows.as<Row<words>>();
    const uint32_t   *index = a.keys.as<uint32_t>();
    Row<words>       *out = a.keys_out.as<Row<words>>();
    const size_t      n = spec.count;
    return { "thrust::gather", [=] { thrust::gather(thrust::cuda::par_nosync, index, index + n, rows, out); } };
}

static Peer peer_gather(const struct spec &spec, Arrays &a)
{
    switch (spec_row_bytes(&spec)) {
    case 4:
        return peer_gather_rows<1>(spec, a);
    case 16:
        return peer_gather_rows<4>(spec, a);
    default:
        return peer_gather_rows<16>(spec, a);
    }
}

/* One call for sums, one for counts, and a sort for unsorted keys. */
template <typename K, typename V> static Peer peer_groups(const struct spec &spec, Arrays &a)
{
    const bool   sorted = spec.variant == 1;
    const K     *keys_in = a.keys.as<K>(), *keys = sorted ? keys_in : a.keys_spare.as<K>();
    K           *keys_spare = a.keys_spare.as<K>(), *keys_out = a.keys_out.as<K>();
    const V     *values_in = a.values.as<V>(), *values = sorted ? values_in : a.values_spare.as<V>();
    V           *values_spare = a.values_spare.as<V>(), *values_out = a.values_out.as<V>();
    uint32_t    *counts = a.counts.as<uint32_t>(), *groups = a.total.as<uint32_t>();
    const size_t n = spec.count;
    const auto   work = [=](void *t, size_t &bytes) {
        Steps step(bytes);
        if (!sorted)
            step([&](size_t &here) {
                return sort_all<K, V>(t, here, keys_in, keys_spare, values_in, values_spare, n, false);
            });
        if constexpr (has_values<K, V>)
            step([&](size_t &here) {
                return cub::DeviceReduce::ReduceByKey(t, here, keys, keys_out, values, values_out, groups,
                                                        cuda::std::plus<> {}, n);
            });
        step([&](size_t &here) {
            return cub::DeviceRunLengthEncode::Encode(t, here, keys, keys_out, counts, groups, n);
        });
        return step.code;
    };
    return { has_values<K, V> ? "cub: sort if unsorted, ReduceByKey, RunLengthEncode"
                              : "cub: sort if unsorted, RunLengthEncode",
             with_temporary(a, work) };
}

/* Fetches the value if the rank holds the query's key. */
template <typename K, typename V> struct Fetch {
    const K        *keys, *queries;
    const V        *values;
    const uint32_t *ranks;
    size_t          count;
    V              *values_out;
    uint8_t        *found;

    __device__ void operator()(size_t i) const
    {
        const uint32_t rank = ranks[i];
        const bool     here = rank < count && keys[rank] == queries[i];
        found[i] = here;
        if constexpr (has_values<K, V>)
            if (here)
                values_out[i] = values[rank];
    }
};

template <typename K, typename V> static Peer peer_lookup(const struct spec &spec, Arrays &a)
{
    const Call        search = peer_search<K>(spec, a).call;
    const Fetch<K, V> fetch = { a.keys.as<K>(), a.queries.as<K>(),    a.values.as<V>(),     a.ranks.as<uint32_t>(),
                                spec.count,     a.values_out.as<V>(), a.found.as<uint8_t>() };
    const size_t      n_queries = spec.n_queries;
    return { "thrust::lower_bound, then fetch", [=] {
                search();
                thrust::for_each_n(thrust::cuda::par_nosync, thrust::counting_iterator<size_t>(0), n_queries, fetch);
            } };
}

/* ---- the GPU LSM as in its paper ----------------------------------------------------------------------------- */

/* Ashkiani et al., IPDPS 2018: level i is empty or a run of 2^i batches. A batch is sorted and merged with levels
 * until one is empty. Sorts and merges are CUB's; memory is allocated beforehand. Only inserts: replaced elements
 * stay. */
template <typename K, typename V> class Lsm {
  public:
    Lsm(const struct spec &spec, Arrays &a)
        : arrays_(a), count_(spec.count), batch_(spec_batch(&spec)), batches_((count_ + batch_ - 1) / batch_)
    {
        for (size_t level = 0; batches_ >> level; level++)
            a.levels.push_back(room(batch_ << level));
        for (int side = 0; side < 2; side++)
            a.carries.push_back(room(count_));
        size_t sort_bytes = 0, merge_bytes = 0;
        must(sort(nullptr, sort_bytes, 0, { nullptr, nullptr, batch_ }), "asking for temporary storage");
        must(merge_runs<K, V>(nullptr, merge_bytes, { nullptr, nullptr, count_ }, { nullptr, nullptr, count_ }, nullptr,
                              nullptr),
             "asking for temporary storage");
        bytes_ = std::max(sort_bytes, merge_bytes);
        a.temporary = Array(bytes_ + 1);
    }

    void insert_all()
    {
        std::fill(sizes_, sizes_ + 64, 0);
        for (size_t b = 0; b < batches_; b++)
            insert(b);
    }

    /* Merges all levels into keys_out and values_out for the check. Not timed. */
    void gather()
    {
        Run<K, V> all = {};
        int       side = 0;
        for (size_t level = arrays_.levels.size(); level-- > 0;) {
            const Run<K, V> run = at(arrays_.levels[level], sizes_[level]);
            if (run.count == 0)
                continue;
            const Run<K, V> to = at(arrays_.carries[side], all.count + run.count);
            if (all.count)
                merge(all, run, to);
            all = all.count ? to : run;
            side ^= 1;
        }
        must(cudaMemcpy(arrays_.keys_out.as<K>(), all.keys, count_ * sizeof(K), cudaMemcpyDeviceToDevice),
             "cudaMemcpy");
        if constexpr (has_values<K, V>)
            must(cudaMemcpy(arrays_.values_out.as<V>(), all.values, count_ * sizeof(V), cudaMemcpyDeviceToDevice),
                 "cudaMemcpy");
    }

  private:
    static Pairs room(size_t count)
    {
        return { Array(count * sizeof(K)), Array(has_values<K, V> ? count * sizeof(V) : 0) };
    }
    static Run<K, V> at(const Pairs &pairs, size_t count)
    {
        return { pairs.keys.as<K>(), pairs.values.as<V>(), count };
    }

    cudaError_t sort(void *t, size_t &bytes, size_t from, Run<K, V> to) const
    {
        return sort_all<K, V>(t, bytes, arrays_.keys.as<K>() + from, to.keys, arrays_.values.as<V>() + from, to.values,
                              to.count, false);
    }
    void merge(Run<K, V> newer, Run<K, V> older, Run<K, V> to) const
    {
        size_t bytes = bytes_;
        must(merge_runs<K, V>(arrays_.temporary.as<void>(), bytes, { newer.keys, newer.values, newer.count },
                              { older.keys, older.values, older.count }, to.keys, to.values),
             "a CUB merge");
    }

    /* The target of a merge: the level itself if it is empty. */
    Run<K, V> place(size_t level, int side, size_t count) const
    {
        return at(sizes_[level] ? arrays_.carries[side] : arrays_.levels[level], count);
    }

    void insert(size_t b)
    {
        size_t    level = 0, bytes = bytes_;
        int       side = 0;
        Run<K, V> carry = place(0, side, std::min(batch_, count_ - b * batch_));
        must(sort(arrays_.temporary.as<void>(), bytes, b * batch_, carry), "a CUB sort");
        for (; sizes_[level]; level++) {
            side ^= 1;
            const Run<K, V> to = place(level + 1, side, carry.count + sizes_[level]);
            merge(carry, at(arrays_.levels[level], sizes_[level]), to);
            sizes_[level] = 0;
            carry = to;
        }
        sizes_[level] = carry.count;
    }

    Arrays &arrays_;
    size_t  count_, batch_, batches_, bytes_ = 0;
    size_t  sizes_[64] = {};
};

template <typename K, typename V> static Peer peer_lsm(const struct spec &spec, Arrays &a)
{
    if (spec.variant != LSM || spec.count == 0)
        return {};
    const auto lsm = std::make_shared<Lsm<K, V>>(spec, a);
    return { "GPU LSM as in its paper, of CUB's sort and merge", [lsm] { lsm->insert_all(); }, true,
             [lsm] { lsm->gather(); } };
}

/* ---- by workload and types ----------------------------------------------------------------------------------- */

template <typename K, typename V> static Peer peer_for_types(const struct spec &spec, Arrays &a)
{
    switch (spec.workload) {
    case SORT:
        return peer_sort<K, V>(spec, a);
    case MERGE:
        return peer_merge<K, V>(spec, a);
    case MERGE_RUNS:
        return peer_merge_runs<K, V>(spec, a);
    case COMPACT:
        return peer_compact<K, V>(spec, a);
    case LOOKUP:
        return peer_lookup<K, V>(spec, a);
    case GROUPBY:
        return peer_groups<K, V>(spec, a);
    case TOP:
        return peer_top<K, V>(spec, a);
    case FILLRANDOM:
    case FILLSEQ:
        return peer_lsm<K, V>(spec, a);
    default:
        return {};
    }
}

template <typename K> static Peer peer_for_key(const struct spec &spec, Arrays &a)
{
    if (spec.workload == SCAN)
        return peer_scan<K>(spec, a);
    if (spec.workload == REDUCE)
        return peer_reduce<K>(spec, a);
    if (spec.workload == SEARCH)
        return peer_search<K>(spec, a);
    if (spec.workload == EQUAL_RANGE)
        return peer_equal_range<K>(spec, a);
    if (spec.workload == GATHER)
        return peer_gather(spec, a);
    if (spec.value_bytes == 4)
        return peer_for_types<K, uint32_t>(spec, a);
    if (spec.value_bytes == 8)
        return peer_for_types<K, uint64_t>(spec, a);
    return peer_for_types<K, Nothing>(spec, a);
}

static Peer peer_of(const struct spec &spec, Arrays &a)
{
    return spec.type == ORDO_U32 ? peer_for_key<uint32_t>(spec, a) : peer_for_key<uint64_t>(spec, a);
}

/* ---- clocks -------------------------------------------------------------------------------------------------- */

/* Matches timing.c. A batch takes at least 20 ms. The result is the median of up to 20 batches. */
static const double batch_seconds = 0.02;
static const int    most_batch = 4096, most_repetitions = 20;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Times {
    double wall, device; /* seconds a call */
};

class Clock {
  public:
    Clock()
    {
        must(cudaEventCreate(&start_), "cudaEventCreate");
        must(cudaEventCreate(&end_), "cudaEventCreate");
    }
    Clock(const Clock &) = delete;
    Clock &operator=(const Clock &) = delete;
    ~Clock()
    {
        cudaEventDestroy(start_);
        cudaEventDestroy(end_);
    }

    Times batch(const Call &call, int n) const
    {
        const double before = now();
        must(cudaEventRecord(start_), "cudaEventRecord");
        for (int i = 0; i < n; i++)
            call();
        must(cudaEventRecord(end_), "cudaEventRecord");
        must(cudaDeviceSynchronize(), "the timed calls");
        const double wall = now() - before;
        float        ms = 0;
        must(cudaEventElapsedTime(&ms, start_, end_), "cudaEventElapsedTime");
        return { wall / n, ms * 1e-3 / n };
    }

  private:
    cudaEvent_t start_ = nullptr, end_ = nullptr;
};

static double median(std::vector<double> list)
{
    std::sort(list.begin(), list.end());
    const size_t n = list.size();
    return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

static Times time_calls(const Call &call, double seconds)
{
    const Clock clock;
    int         n = 1;
    clock.batch(call, 1); /* loads the kernels */
    double took = clock.batch(call, n).wall;
    while (took * n < batch_seconds && n * 2 <= most_batch) {
        n *= 2;
        took = clock.batch(call, n).wall;
    }
    const int           repetitions = (int) std::max(3.0, std::min(seconds / (took * n), (double) most_repetitions));
    std::vector<double> wall, device;
    for (int r = 0; r < repetitions; r++) {
        const Times times = clock.batch(call, n);
        wall.push_back(times.wall);
        device.push_back(times.device);
    }
    return { median(wall), median(device) };
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static bool check(const struct spec &spec, const struct inputs &in, const Arrays &a, bool ties_may_swap)
{
    const auto keys = a.keys_out.read(), values = a.values_out.read(), ranks = a.ranks.read(), found = a.found.read();
    const auto total = a.total.read(), uppers = a.uppers.read(), counts = a.counts.read();
    struct answer answer = {};
    answer.keys = keys.data();
    answer.values = values.data();
    answer.ranks = reinterpret_cast<const uint32_t *>(ranks.data());
    answer.found = found.data();
    answer.total = total.data();
    answer.uppers = reinterpret_cast<const uint32_t *>(uppers.data());
    answer.counts = reinterpret_cast<const uint32_t *>(counts.data());
    memcpy(&answer.kept, total.data(), sizeof answer.kept);
    char why[WHY_BYTES];
    /* Everything inserted into a dictionary must come back in order. */
    struct spec checked = spec;
    checked.workload = workload_is_dict(spec.workload) ? SORT : spec.workload;
    const bool right = answer_check(&checked, &in, &answer, ties_may_swap, why);
    if (!right)
        fprintf(stderr, "ordo-peer: %s of %zu: %s\n", workload_name(spec.workload), spec.count, why);
    return right;
}

static void print_row(const struct spec &spec, const char *name, const Times &times, bool right, const char *device)
{
    const double operations = (double) spec_operations(&spec);
    printf("{\"count\": %zu, \"name\": \"%s\", \"rate\": %.6g, \"device_rate\": %.6g, \"wall_s\": %.6g, \"device_s\": "
           "%.6g, "
           "\"check\": \"%s\", \"device\": \"%s\", \"cuda\": \"%d.%d\", \"cccl\": \"%d.%d.%d\"}\n",
           spec.count, name, operations / times.wall, operations / times.device, times.wall, times.device,
           right ? "ok" : "WRONG", device, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, CUB_MAJOR_VERSION,
           CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    fflush(stdout);
}

/* Skips sizes without memory. */
static bool has_room(const struct spec &spec)
{
    size_t available = 0, all = 0;
    must(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
    const double pair = (spec.type == ORDO_U32 ? 4 : 8) + spec.value_bytes;
    const double copies = workload_is_dict(spec.workload) ? 7 : 3;
    return ((double) spec.count * copies + (double) spec.n_queries * 2) * pair < (double) available * 0.9;
}

/* Prints a row for each table. */
static bool run_hash_rows(const struct spec &spec, double seconds, const char *device)
{
    const std::vector<HashPeer> peers = hash_peers(spec);
    bool                        right = true;
    for (const HashPeer &peer : peers) {
        const Times times = time_calls(peer.call, seconds / (double) peers.size());
        const bool  good = peer.check();
        print_row(spec, peer.name, times, good, device);
        right = right && good;
    }
    return right;
}

static bool run_row(const struct spec &spec, double seconds, const char *device)
{
    struct inputs in;
    if (!has_room(spec))
        return true;
    if (workload_is_dict(spec.workload) && spec.variant == HASH)
        return run_hash_rows(spec, seconds, device);
    if (!inputs_make(&spec, &in))
        throw std::runtime_error("out of memory");
    bool right = true;
    {
        Arrays     arrays = make_arrays(spec, in);
        const Peer peer = peer_of(spec, arrays);
        if (peer.name) {
            const Times times = time_calls(peer.call, seconds);
            if (peer.finish)
                peer.finish();
            right = check(spec, in, arrays, peer.ties_may_swap);
            print_row(spec, peer.name, times, right, device);
        }
    }
    inputs_free(&in);
    return right;
}

/* ---- options ------------------------------------------------------------------------------------------------- */

[[noreturn]] static void usage(const std::string &why)
{
    fprintf(
        stderr,
        "ordo-peer: %s\n"
        "Usage: ordo-peer --workload NAME --sizes LIST [--variant NAME] [--type u32|u64] [--value-bytes 0|4|8]\n"
        "                 [--dist NAME] [--queries N] [--batch N] [--hit-rate PERCENT] [--load PERCENT] [--seed N]\n"
        "                 [--budget SECONDS] [--device NAME]\n"
        "The axes of ordo-bench, one point at a time; ordo-bench --peers runs this.\n",
        why.c_str());
    exit(2);
}

template <typename Name> static int number_of(const char *what, const char *text, int n, Name name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name(i), text) == 0)
            return i;
    usage(std::string("'") + text + "' is no " + what);
}

static std::vector<size_t> sizes_of(const char *text)
{
    std::vector<size_t> sizes(64);
    char                why[WHY_BYTES];
    const int           n = parse_sizes(text, sizes.data(), (int) sizes.size(), why);
    if (n < 0)
        usage(why);
    sizes.resize((size_t) n);
    return sizes;
}

struct Options {
    struct spec         spec = {};
    std::vector<size_t> sizes;
    std::string         device, variant;
    double              seconds = 10;
};

static void take_option(Options &o, const std::string &option, const char *text)
{
    if (option == "--workload")
        o.spec.workload = (enum workload) number_of("workload", text, N_ALL_WORKLOADS,
                                                    [](int i) { return workload_name((enum workload) i); });
    else if (option == "--variant")
        o.variant = text;
    else if (option == "--type")
        o.spec.type = (ordo_type) number_of("type", text, N_TYPES, [](int i) { return type_name((ordo_type) i); });
    else if (option == "--dist")
        o.spec.dist =
            (enum dist) number_of("distribution", text, N_DISTS, [](int i) { return dist_name((enum dist) i); });
    else if (option == "--value-bytes")
        o.spec.value_bytes = (uint32_t) strtoul(text, nullptr, 10);
    else if (option == "--sizes")
        o.sizes = sizes_of(text);
    else if (option == "--queries")
        o.spec.n_queries = sizes_of(text).at(0);
    else if (option == "--batch")
        o.spec.batch = strtoull(text, nullptr, 10);
    else if (option == "--hit-rate")
        o.spec.hit_percent = (uint32_t) strtoul(text, nullptr, 10);
    else if (option == "--load")
        o.spec.load_percent = (uint32_t) strtoul(text, nullptr, 10);
    else if (option == "--seed")
        o.spec.seed = strtoull(text, nullptr, 10);
    else if (option == "--budget")
        o.seconds = atof(text);
    else if (option == "--device")
        o.device = text;
    else
        usage("'" + option + "' is no option");
}

static Options read_options(int argc, char **argv)
{
    Options o;
    o.spec.seed = 1;
    o.spec.hit_percent = 100;
    o.spec.n_queries = (size_t) 1 << 24;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            usage(std::string(argv[i]) + " needs an argument");
        take_option(o, argv[i], argv[i + 1]);
    }
    if (o.sizes.empty())
        usage("--sizes is missing");
    if (o.spec.value_bytes != 0 && o.spec.value_bytes != 4 && o.spec.value_bytes != 8)
        usage("--value-bytes: 0, 4 or 8");
    if (!workload_has_values(o.spec.workload))
        o.spec.value_bytes = 0;
    if (!workload_has_queries(o.spec.workload))
        o.spec.n_queries = 0;
    for (int v = 0; variant_name(o.spec.workload, v); v++)
        if (o.variant == variant_name(o.spec.workload, v))
            o.spec.variant = v;
    return o;
}

/* Selects the CUDA device with OpenCL's name `wanted`, or the first if that is empty. */
static std::string choose_device(const std::string &wanted)
{
    int n = 0;
    must(cudaGetDeviceCount(&n), "cudaGetDeviceCount");
    for (int d = 0; d < n; d++) {
        cudaDeviceProp properties;
        must(cudaGetDeviceProperties(&properties, d), "cudaGetDeviceProperties");
        if (wanted.empty() || wanted == properties.name) {
            must(cudaSetDevice(d), "cudaSetDevice");
            return properties.name;
        }
    }
    throw std::runtime_error("no CUDA device is called '" + wanted + "'");
}

int main(int argc, char **argv)
{
    const Options options = read_options(argc, argv);
    bool          right = true;
    if (options.spec.type != ORDO_U32 && options.spec.type != ORDO_U64)
        return 0; /* CUB orders floats differently, and signed integers need no other work */
    try {
        const std::string device = choose_device(options.device);
        for (const size_t count : options.sizes) {
            struct spec spec = options.spec;
            spec.count = count;
            right = run_row(spec, options.seconds / (double) options.sizes.size(), device.c_str()) && right;
        }
    } catch (const std::exception &error) {
        fprintf(stderr, "ordo-peer: %s\n", error.what());
        return 1;
    }
    return right ? 0 : 1;
}
