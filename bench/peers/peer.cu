/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-peer: CUB and Thrust on the workloads of ordo-bench, with the same inputs, checks and batches, timed by the
 * host's clock and CUDA events; for dictionaries a GPU LSM of CUB calls, and hash tables (peer_hash.cu). ordo-bench
 * --peers runs it. It prints a line of JSON per size, none for other workloads. Temporary storage is allocated
 * before the timing. */
#include "peer.hpp"

#include <cub/device/device_merge.cuh>
#include <cub/device/device_merge_sort.cuh>
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
#include <thrust/transform.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <utility>

static void must(cudaError_t code, const char *what)
{
    if (code != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

/* A key of type u128. */
using Wide = unsigned __int128;

/* A value of 0 bytes. */
struct Nothing {};
template <typename V> constexpr bool is_something = !std::is_same<V, Nothing>::value;

/* Elements in device memory, perhaps without values. */
template <typename K, typename V> struct Run {
    K     *keys;
    V     *values;
    size_t count;

    Run part(size_t from, size_t n) const
    {
        return { keys + from, values + from, n };
    }
};

struct Arrays {
    size_t           key, value, row, count, n_queries; /* bytes of an element; numbers of elements */
    Array            keys, values, flags, queries, rows;
    Array            keys_out, values_out, ranks, uppers, found, counts, total;
    Array            keys_spare, values_spare; /* for several passes */
    Array            rows_out;                 /* sorted columns */
    std::list<Array> levels;                   /* of the LSM */
    Array            temporary;

    Arrays(const struct spec &spec, const struct inputs &in)
        : key(type_bytes(spec.type)), value(spec.value_bytes), row(spec.workload == GATHER ? spec_row_bytes(&spec) : 0),
          count(spec.count), n_queries(spec.n_queries), keys(array_of(count * (row ? 4 : key), in.keys)),
          values(array_of(count * value, in.values)), flags(array_of(in.flags ? count : 0, in.flags)),
          queries(array_of(n_queries * key, in.queries)),
          rows(array_of(in.rows ? count * spec_row_bytes(&spec) : 0, in.rows)),
          keys_out(array_of(n_queries ? 0 : count * (row ? row : key))),
          values_out(array_of((n_queries ? n_queries : count) * value)), ranks(array_of(n_queries * 4)),
          uppers(array_of(n_queries * 4)), found(array_of(n_queries)),
          counts(array_of(spec.workload == GROUPBY ? count * 4 : 0)), total(array_of(8)),
          rows_out(array_of(spec.workload == COLUMNS ? count * spec_row_bytes(&spec) : 0))
    {
        if (spec.workload == MERGE_RUNS || spec.workload == GROUPBY) {
            keys_spare = array_of(count * key);
            values_spare = array_of(count * value);
        }
    }
    template <typename K, typename V> Run<K, V> run(Array &of_keys, Array &of_values)
    {
        return { as<K>(of_keys), as<V>(of_values), count };
    }
    /* A level of the LSM with room for `room` elements. */
    template <typename K, typename V> Run<K, V> level(size_t room)
    {
        Array &of_keys = levels.emplace_back(room * key), &of_values = levels.emplace_back(room * value);
        return { as<K>(of_keys), as<V>(of_values), 0 };
    }
};

/* The work of a library. `finish` moves the result to the outputs and is not timed. */
struct Work {
    const char *name = nullptr; /* NULL: there is none */
    Call        call;
    Call        finish = {};
};

/* ---- calls of CUB -------------------------------------------------------------------------------------------- */

/* With NULL it returns the size of temporary storage, else it works. */
using CubCall = std::function<cudaError_t(void *temporary, size_t &bytes)>;

/* One after another, with the same temporary storage. */
static Call in_order(Arrays &a, const std::vector<CubCall> &steps)
{
    size_t bytes = a.temporary.size();
    for (const CubCall &step : steps) {
        size_t here = 0;
        must(step(nullptr, here), "asking for temporary storage");
        bytes = std::max(bytes, here + 1);
    }
    a.temporary.resize(bytes);
    return [&a, steps, bytes] {
        for (const CubCall &step : steps) {
            size_t room = bytes;
            must(step(as<void>(a.temporary), room), "a CUB call");
        }
    };
}

template <typename K, typename V> static CubCall sort_call(Run<K, V> from, Run<K, V> to, bool descending = false)
{
    return [=](void *t, size_t &bytes) {
        using Sort = cub::DeviceRadixSort;
        const size_t n = to.count;
        if constexpr (is_something<V>)
            return descending ? Sort::SortPairsDescending(t, bytes, from.keys, to.keys, from.values, to.values, n)
                              : Sort::SortPairs(t, bytes, from.keys, to.keys, from.values, to.values, n);
        else
            return descending ? Sort::SortKeysDescending(t, bytes, from.keys, to.keys, n)
                              : Sort::SortKeys(t, bytes, from.keys, to.keys, n);
    };
}

template <typename K, typename V> static CubCall merge_call(Run<K, V> a, Run<K, V> b, Run<K, V> to)
{
    return [=](void *t, size_t &bytes) {
        const int64_t n_a = (int64_t) a.count, n_b = (int64_t) b.count;
        if constexpr (is_something<V>)
            return cub::DeviceMerge::MergePairs(t, bytes, a.keys, a.values, n_a, b.keys, b.values, n_b, to.keys,
                                                to.values);
        else
            return cub::DeviceMerge::MergeKeys(t, bytes, a.keys, n_a, b.keys, n_b, to.keys);
    };
}

/* CUB merges two runs: merges pairs of runs, pass by pass, so that the last pass writes `out`. */
template <typename K, typename V>
static Work merges(const struct spec &spec, Arrays &a, Run<K, V> from, Run<K, V> spare, Run<K, V> out)
{
    std::vector<CubCall> steps;
    size_t               runs = spec_runs(&spec), length = spec.count / runs, passes = 0;
    while (runs >> passes > 1)
        passes++;
    for (size_t pass = 0; pass < passes; pass++, runs /= 2, length *= 2) {
        const Run<K, V> to = (passes - pass) % 2 == 1 ? out : spare;
        for (size_t r = 0; r < runs; r += 2) {
            const size_t at = r * length, both = r + 2 == runs ? spec.count - at : 2 * length;
            steps.push_back(
                merge_call(from.part(at, length), from.part(at + length, both - length), to.part(at, both)));
        }
        from = to;
    }
    return { spec.workload == MERGE ? "cub::DeviceMerge" : "cub::DeviceMerge, pairs of runs", in_order(a, steps) };
}

template <typename K, typename V> static CubCall compact_call(Arrays &a, Run<K, V> from, Run<K, V> to)
{
    return [=, flags = as<uint8_t>(a.flags), kept = as<uint32_t>(a.total)](void *t, size_t &bytes) {
        if constexpr (is_something<V>)
            return cub::DeviceSelect::Flagged(t, bytes, thrust::make_zip_iterator(from.keys, from.values), flags,
                                              thrust::make_zip_iterator(to.keys, to.values), kept, from.count);
        else
            return cub::DeviceSelect::Flagged(t, bytes, from.keys, flags, to.keys, kept, from.count);
    };
}

/* One call for sums, one for counts, and a sort for unsorted keys. */
template <typename K, typename V>
static Work groups(const struct spec &spec, Arrays &a, Run<K, V> in, Run<K, V> spare, Run<K, V> out)
{
    const bool           is_sorted = spec.variant == 1;
    const Run<K, V>      from = is_sorted ? in : spare;
    uint32_t            *counts = as<uint32_t>(a.counts), *n_groups = as<uint32_t>(a.total);
    std::vector<CubCall> steps;
    if (!is_sorted)
        steps.push_back(sort_call(in, spare));
    if constexpr (is_something<V>)
        steps.push_back([=](void *t, size_t &bytes) {
            return cub::DeviceReduce::ReduceByKey(t, bytes, from.keys, out.keys, from.values, out.values, n_groups,
                                                  cuda::std::plus<> {}, from.count);
        });
    steps.push_back([=](void *t, size_t &bytes) {
        return cub::DeviceRunLengthEncode::Encode(t, bytes, from.keys, out.keys, counts, n_groups, from.count);
    });
    return { is_something<V> ? "cub: sort if unsorted, ReduceByKey, RunLengthEncode"
                             : "cub: sort if unsorted, RunLengthEncode",
             in_order(a, steps) };
}

/* The GPU LSM as in its paper (Ashkiani et al., IPDPS 2018): level i is empty or a run of 2^i batches. A batch is
 * sorted and merged with levels until one is empty. Sorts and merges are CUB's; memory is allocated beforehand. Only
 * inserts: replaced elements stay. At the end all levels are merged for the check. */
template <typename K, typename V> static Work lsm(const struct spec &spec, Arrays &a, Run<K, V> in, Run<K, V> out)
{
    const size_t           batch = spec_batch(&spec), count = spec.count;
    const Run<K, V>        carries[] = { a.level<K, V>(count), a.level<K, V>(count) };
    std::vector<Run<K, V>> levels;
    std::vector<CubCall>   inserts, merges;
    for (size_t room = batch; room < count + batch; room *= 2)
        levels.push_back(a.level<K, V>(room));
    for (size_t from = 0; from < count; from += batch) {
        size_t    level = 0;
        Run<K, V> carry = levels[0].count ? carries[0] : levels[0];
        carry.count = std::min(batch, count - from);
        inserts.push_back(sort_call(in.part(from, carry.count), carry));
        for (; levels[level].count; level++) {
            Run<K, V> to = levels[level + 1].count ? carries[(level + 1) % 2] : levels[level + 1];
            to.count = carry.count + levels[level].count;
            inserts.push_back(merge_call(carry, levels[level], to));
            levels[level].count = 0;
            carry = to;
        }
        levels[level].count = carry.count;
    }
    Run<K, V> all = {};
    for (size_t level = levels.size(), side = 0; level-- > 0;)
        if (levels[level].count) {
            Run<K, V> to = carries[side ^= 1];
            to.count = all.count + levels[level].count;
            if (all.count)
                merges.push_back(merge_call(all, levels[level], to));
            all = all.count ? to : levels[level];
        }
    const auto finish = [=, merge = in_order(a, merges)] {
        merge();
        thrust::copy_n(thrust::device, all.keys, count, out.keys);
        if constexpr (is_something<V>)
            thrust::copy_n(thrust::device, all.values, count, out.values);
    };
    return { "GPU LSM as in its paper, of CUB's sort and merge", in_order(a, inserts), finish };
}

/* The three columns of a table in one array (inputs.h), as one sequence of tuples. */
static auto columns_in(const struct spec &spec, Array &rows)
{
    return thrust::make_zip_iterator(as<uint32_t>(rows) + inputs_column(&spec, 0),
                                     as<float>(rows) + inputs_column(&spec, 1),
                                     as<uint64_t>(rows) + inputs_column(&spec, 2));
}

struct RowBefore {
    template <typename A, typename B> __device__ bool operator()(const A &a, const B &b) const
    {
        if (thrust::get<0>(a) != thrust::get<0>(b))
            return thrust::get<0>(a) < thrust::get<0>(b);
        if (thrust::get<1>(a) != thrust::get<1>(b))
            return thrust::get<1>(a) < thrust::get<1>(b);
        return thrust::get<2>(a) < thrust::get<2>(b);
    }
};

/* The key that a row packs into, for the check. */
struct PackRow {
    template <typename Row> __device__ Wide operator()(const Row &row) const
    {
        const uint32_t bits = __float_as_uint(thrust::get<1>(row)), sign = 0x80000000u;
        const uint32_t form = bits & sign ? ~bits : bits | sign;
        return (Wide) thrust::get<0>(row) << 96 | (Wide) form << 64 | thrust::get<2>(row);
    }
};

/* Thrust sorts tuples by this merge sort, but allocates its temporary storage in each call. */
template <typename V> static Work sort_columns(const struct spec &spec, Arrays &a)
{
    const auto in = columns_in(spec, a.rows), out = columns_in(spec, a.rows_out);
    V *const values = as<V>(a.values), *const values_out = as<V>(a.values_out);
    const size_t n = spec.count;
    return { "cub::DeviceMergeSort of tuples with a comparator",
             in_order(a, { [=](void *t, size_t &bytes) {
                          if constexpr (is_something<V>)
                              return cub::DeviceMergeSort::SortPairsCopy(t, bytes, in, values, out, values_out, n,
                                                                         RowBefore {});
                          else
                              return cub::DeviceMergeSort::SortKeysCopy(t, bytes, in, out, n, RowBefore {});
                      } }),
             [=, keys = as<Wide>(a.keys_out)] { thrust::transform(thrust::device, out, out + n, keys, PackRow {}); } };
}

/* ---- calls of Thrust ----------------------------------------------------------------------------------------- */

/* A row of `words` words. */
template <size_t words> struct Row {
    uint32_t word[words];
};
template <size_t words> static Call gather_call(Arrays &a)
{
    return [index = as<uint32_t>(a.keys), rows = as<Row<words>>(a.rows), out = as<Row<words>>(a.keys_out),
            n = a.count] { thrust::gather(thrust::cuda::par_nosync, index, index + n, rows, out); };
}

/* Fetches the value if the rank holds the query's key. */
template <typename K, typename V> struct Fetch {
    Run<K, V>       in;
    const K        *queries;
    const uint32_t *ranks;
    V              *values_out;
    uint8_t        *found;

    __device__ void operator()(size_t i) const
    {
        const uint32_t rank = ranks[i];
        const bool     here = rank < in.count && in.keys[rank] == queries[i];
        found[i] = here;
        if constexpr (is_something<V>)
            if (here)
                values_out[i] = in.values[rank];
    }
};

template <typename K, typename V> static Call search_call(enum workload workload, Arrays &a, Run<K, V> in)
{
    const K          *keys = in.keys, *end = in.keys + in.count, *queries = as<K>(a.queries);
    uint32_t         *ranks = as<uint32_t>(a.ranks), *uppers = as<uint32_t>(a.uppers);
    const Fetch<K, V> fetch = { in, queries, ranks, as<V>(a.values_out), as<uint8_t>(a.found) };
    return [=, n = a.n_queries] {
        thrust::lower_bound(thrust::cuda::par_nosync, keys, end, queries, queries + n, ranks);
        if (workload == EQUAL_RANGE)
            thrust::upper_bound(thrust::cuda::par_nosync, keys, end, queries, queries + n, uppers);
        if (workload == LOOKUP)
            thrust::for_each_n(thrust::cuda::par_nosync, thrust::counting_iterator<size_t>(0), n, fetch);
    };
}

template <typename K, typename V> static Work work_on_pairs(const struct spec &spec, Arrays &a)
{
    const auto in = a.run<K, V>(a.keys, a.values), out = a.run<K, V>(a.keys_out, a.values_out);
    const auto spare = a.run<K, V>(a.keys_spare, a.values_spare);
    switch (spec.workload) {
    case SORT:
        return { is_something<V> ? "cub::DeviceRadixSort::SortPairs" : "cub::DeviceRadixSort::SortKeys",
                 in_order(a, { sort_call(in, out) }) };
    case TOP: /* CUB in CUDA 13.0 has no top-k call: sorts everything */
        return { is_something<V> ? "cub::DeviceRadixSort::SortPairsDescending of all"
                                 : "cub::DeviceRadixSort::SortKeysDescending of all",
                 in_order(a, { sort_call(in, out, true) }) };
    case MERGE:
    case MERGE_RUNS:
        return merges(spec, a, in, spare, out);
    case COMPACT:
        return { "cub::DeviceSelect::Flagged", in_order(a, { compact_call(a, in, out) }) };
    case GROUPBY:
        return groups(spec, a, in, spare, out);
    case SEARCH:
        return { "thrust::lower_bound", search_call(spec.workload, a, in) };
    case EQUAL_RANGE:
        return { "thrust::lower_bound, upper_bound", search_call(spec.workload, a, in) };
    case LOOKUP:
        return { "thrust::lower_bound, then fetch", search_call(spec.workload, a, in) };
    case FILLRANDOM:
    case FILLSEQ:
        if constexpr (sizeof(K) <= 8)
            return spec.variant == LSM && spec.count ? lsm(spec, a, in, out) : Work {};
        return {};
    default:
        return {};
    }
}

template <typename K> static Work work_on_values(const struct spec &spec, Arrays &a)
{
    if (spec.workload == COLUMNS)
        return spec.value_bytes == 4   ? sort_columns<uint32_t>(spec, a)
               : spec.value_bytes == 8 ? sort_columns<uint64_t>(spec, a)
                                       : sort_columns<Nothing>(spec, a);
    return spec.value_bytes == 4   ? work_on_pairs<K, uint32_t>(spec, a)
           : spec.value_bytes == 8 ? work_on_pairs<K, uint64_t>(spec, a)
                                   : work_on_pairs<K, Nothing>(spec, a);
}

template <typename K> static Work work_on_keys(const struct spec &spec, Arrays &a)
{
    K           *in = as<K>(a.keys), *out = as<K>(a.keys_out), *total = as<K>(a.total);
    const size_t n = spec.count, row = a.row;
    switch (spec.workload) {
    case SCAN:
        return {
            "cub::DeviceScan::ExclusiveSum",
            in_order(a, { [=](void *t, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(t, bytes, in, out, n); } })
        };
    case REDUCE:
        return { "cub::DeviceReduce::Sum", in_order(a, { [=](void *t, size_t &bytes) {
                                                        return cub::DeviceReduce::Sum(t, bytes, in, total, n);
                                                    } }) };
    case GATHER:
        return { "thrust::gather", row == 4 ? gather_call<1>(a) : row == 16 ? gather_call<4>(a) : gather_call<16>(a) };
    default:
        return work_on_values<K>(spec, a);
    }
}

static bool check(const struct spec &spec, const struct inputs &in, const Arrays &a, char *why)
{
    const auto    keys = read(a.keys_out), values = read(a.values_out), ranks = read(a.ranks), found = read(a.found);
    const auto    total = read(a.total), uppers = read(a.uppers), counts = read(a.counts);
    struct answer answer = {};
    answer.keys = keys.data();
    answer.values = values.data();
    answer.ranks = reinterpret_cast<const uint32_t *>(ranks.data());
    answer.found = found.data();
    answer.total = total.data();
    answer.uppers = reinterpret_cast<const uint32_t *>(uppers.data());
    answer.counts = reinterpret_cast<const uint32_t *>(counts.data());
    memcpy(&answer.kept, total.data(), sizeof answer.kept);
    /* Everything inserted into a dictionary must come back in order. */
    struct spec checked = spec;
    const bool  inserts = workload_is_dict(spec.workload);
    const bool  ties_may_swap =
        inserts || spec.workload == MERGE || spec.workload == MERGE_RUNS || spec.workload == COLUMNS;
    checked.workload = inserts ? SORT : spec.workload;
    return answer_check(&checked, &in, &answer, ties_may_swap, why);
}

/* CUB or Thrust, if they do the workload. */
static std::vector<Peer> array_peers(const struct spec &spec)
{
    const auto in = make_inputs(spec);
    const auto arrays = std::make_shared<Arrays>(spec, *in);
    const Work work = spec.type == ORDO_U32    ? work_on_keys<uint32_t>(spec, *arrays)
                      : spec.type == ORDO_U128 ? work_on_values<Wide>(spec, *arrays)
                                               : work_on_keys<uint64_t>(spec, *arrays);
    if (!work.name)
        return {};
    return { { work.name, work.call, [=](char *why) {
                  if (work.finish)
                      work.finish();
                  return check(spec, *in, *arrays, why);
              } } };
}

/* ---- clocks -------------------------------------------------------------------------------------------------- */

static cudaEvent_t new_event()
{
    cudaEvent_t event = nullptr;
    must(cudaEventCreate(&event), "cudaEventCreate");
    return event;
}

static Times time_batch(const Call &call, int n)
{
    static const cudaEvent_t start = new_event(), end = new_event();
    const auto               before = std::chrono::steady_clock::now();
    must(cudaEventRecord(start), "cudaEventRecord");
    for (int i = 0; i < n; i++)
        call();
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaDeviceSynchronize(), "the timed calls");
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;
    float                               ms = 0;
    must(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    return { wall.count() / n, ms * 1e-3 / n, 0 };
}

static bool has_room(const struct spec &spec)
{
    size_t available = 0, all = 0;
    must(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
    const double pair = (double) type_bytes(spec.type) + spec.value_bytes;
    const double copies = workload_is_dict(spec.workload) ? 7 : spec.workload == COLUMNS ? 6 : 3;
    return ((double) spec.count * copies + (double) spec.n_queries * 2) * pair < (double) available * 0.9;
}

static void run_rows(const struct spec &spec, double seconds, const std::string &more)
{
    static const Clocks clocks = { [] { must(cudaDeviceSynchronize(), "the preparation of a call"); }, time_batch };
    if (!has_room(spec))
        return;
    const bool        is_dict = workload_is_dict(spec.workload), hashes = is_dict && spec.variant == HASH;
    std::vector<Peer> peers = hashes ? hash_peers(spec) : tree_peers(spec);
    if (!hashes && peers.empty())
        peers = array_peers(spec);
    for (const Peer &peer : peers)
        run_peer(clocks, spec, peer, seconds / (double) peers.size(), more);
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
try {
    Question q = read_question(argc, argv);
    if (q.spec.type != ORDO_U32 && q.spec.type != ORDO_U64 && q.spec.type != ORDO_U128)
        return 0; /* CUB orders floats differently, and signed integers need no other work */
    char more[512];
    snprintf(more, sizeof more, "\"device\": \"%s\", \"cuda\": \"%d.%d\", \"cccl\": \"%d.%d.%d\"",
             choose_device(q.device_name).c_str(), CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, CUB_MAJOR_VERSION,
             CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    for (const size_t count : q.counts) {
        q.spec.count = count;
        run_rows(q.spec, q.seconds, more);
    }
    return 0;
} catch (const std::exception &error) {
    fprintf(stderr, "ordo-peer: %s\n", error.what());
    return 1;
}
