/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"
#include "versions.hpp"

extern "C" {
#include "bench/common/threads.h"
#include "bench/peers/host.h"
#include "bench/workload/keys.h"
}

#if BENCH_BTREE
#include <absl/container/btree_map.h>
#endif
#if BENCH_HASH_MAP
#include <absl/container/flat_hash_map.h>
#endif
#if BENCH_ROBIN_MAP
#include <tsl/robin_map.h>
#endif
#if BENCH_BOOST_MAP
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/version.hpp>
#endif

#include <cmath>
#include <memory>
#include <numeric>

namespace {

using Map = std::unique_ptr<HostMap>;

/* Opens one of four types of a map template. */
template <template <typename, typename> class Of> Map open_one(size_t key_bytes, size_t value_bytes)
{
    if (key_bytes == 4)
        return value_bytes == 8 ? Map(new Of<uint32_t, uint64_t>) : Map(new Of<uint32_t, uint32_t>);
    return value_bytes == 8 ? Map(new Of<uint64_t, uint64_t>) : Map(new Of<uint64_t, uint32_t>);
}

#if BENCH_BTREE
template <typename K, typename V> using BtreeMap = NodeMap<absl::btree_map<K, V>>;
#define BTREE open_one<BtreeMap>, ABSL_VERSION
#else
#define BTREE nullptr, nullptr
#endif
#if BENCH_HASH_MAP
template <typename K, typename V> using FlatHashMap = HashMap<absl::flat_hash_map<K, V>>;
#define FLAT_HASH_MAP open_one<FlatHashMap>, ABSL_VERSION
#else
#define FLAT_HASH_MAP nullptr, nullptr
#endif
#if BENCH_ROBIN_MAP
template <typename K, typename V> using RobinMap = HashMap<tsl::robin_map<K, V>>;
#define ROBIN_MAP open_one<RobinMap>, "robin-map" /* its headers have no version */
#else
#define ROBIN_MAP nullptr, nullptr
#endif
#if BENCH_BOOST_MAP
template <typename K, typename V> using BoostMap = HashMap<boost::unordered_flat_map<K, V>>;
#define BOOST_MAP open_one<BoostMap>, "Boost " BOOST_LIB_VERSION
#else
#define BOOST_MAP nullptr, nullptr
#endif

/* By dict_peer_kind. A kind without a version is not built in. */
const struct Kind {
    const char *name;
    Map (*open)(size_t key_bytes, size_t value_bytes);
    const char *version;
} kinds[N_DICT_PEERS] = {
    { "absl::btree_map", BTREE },
    { "absl::flat_hash_map", FLAT_HASH_MAP },
    { "tsl::robin_map", ROBIN_MAP },
    { "boost::unordered_flat_map", BOOST_MAP },
    { "std::map", open_one<StdMap>, STD_VERSION },
    { "sorted array", open_one<SortedArray>, STD_VERSION },
};

#define ELEMENTS_MAX (size_t(1) << 24)
/* Elements that a sorted array may move in all batches. */
#define MOVES_MAX 0x1p31

/* The calls of maps and of a sorted array, which has none where only one thread and a map of nodes can do it. */
#define MAPS   ", one by one; on several threads a map each"
#define MERGED "std::stable_sort of a batch, one merge; on several threads an array each"
const struct Work {
    enum workload workload;
    const char   *map, *array;
} works[] = {
    { FILLRANDOM, "insert_or_assign" MAPS, MERGED },
    { FILLSEQ, "insert_or_assign" MAPS, MERGED },
    { BUILD, "insert_or_assign" MAPS, MERGED },
    { OVERWRITE, "insert_or_assign" MAPS, MERGED },
    { INSERTRANDOM, "insert_or_assign" MAPS, MERGED },
    { CONCURRENTFILL, "insert_or_assign" MAPS, MERGED },
    { CONCURRENTINSERT, "insert_or_assign" MAPS, MERGED },
    { DELETERANDOM, "erase" MAPS, MERGED },
    { COMBINERANDOM, "operator[] and +=" MAPS, MERGED },
    { READRANDOM, "find", "std::lower_bound" },
    { READMISSING, "find", "std::lower_bound" },
    { CONCURRENTREAD, "find", "std::lower_bound" },
    { SEEKRANDOM, "lower_bound", "std::lower_bound" },
    { RANGERANDOM, "lower_bound, then ++", "std::lower_bound, then onwards" },
    { LONGESTPREFIX, "upper_bound among segments, then --", "std::upper_bound among segments" },
    { MIXED, "the call of each operation, one by one", nullptr },
    { MIXEDSEEKS, "the call of each operation, one by one", nullptr },
    { MIXEDPOINTS, "the call of each operation, one by one", nullptr },
    { MIXEDUPDATES, "the call of each operation, one by one", nullptr },
    { DELETERANGE, "erase(lower_bound, upper_bound)", nullptr },
    { QUEUE, "erase(begin, ...), insert_or_assign", nullptr },
    { EXPIRY, "insert_or_assign, erase(lower_bound, upper_bound)", nullptr },
    { ORDERBOOK, "operator[] and +=, begin, rbegin", nullptr },
};

/* NULL: the kind is not built in or cannot do it. */
const Work *work_of(int kind, enum workload workload)
{
    const bool  hashes = DICT_HASH_MAPS >> kind & 1;
    const auto *work = std::find_if(std::begin(works), std::end(works),
                                    [=](const Work &w) { return w.workload == workload_on_device(workload); });
    if (!kinds[kind].version || work == std::end(works) || (hashes && workload_needs_order(workload)))
        return nullptr;
    return kind != DICT_SORTED_ARRAY || work->array ? work : nullptr;
}

/* Input columns in ordered form. */
class Columns {
  public:
    explicit Columns(const struct column_batch &cols)
        : keys_(ordered(cols, COL_KEYS)), hi_(ordered(cols, COL_HI)), cols_(cols)
    {
    }
    size_t count() const
    {
        return cols_.rows[COL_KEYS];
    }
    Rows rows(size_t from, size_t count) const
    {
        const size_t bytes = type_bytes(cols_.type);
        return { keys_.data() + bytes * from, hi_.empty() ? nullptr : hi_.data() + bytes * from,
                 cols_.value_bytes ? at(COL_VALUES, from * cols_.value_bytes) : nullptr,
                 as<uint8_t>(at(COL_CODES, from)), count };
    }

  private:
    const char *at(enum column_id column, size_t bytes) const
    {
        return cols_.at[column] ? as<char>(cols_.at[column]) + bytes : nullptr;
    }
    static std::vector<char> ordered(const struct column_batch &cols, enum column_id column)
    {
        std::vector<char> keys(cols.rows[column] * type_bytes(cols.type));
        keys_order(cols.type, cols.at[column], cols.rows[column], keys.data());
        return keys;
    }

    std::vector<char>          keys_, hi_;
    const struct column_batch &cols_;
};

class HostDict {
  public:
    HostDict(const struct dict_plan &plan, int kind, int threads, size_t rows_max)
        : plan_(plan), kind_(kind), threads_(size_t(std::min(threads, MAX_PARTS))), table_(plan.table.cols),
          work_(plan.work.cols), maps_(queries() ? 1 : threads_), sums_(threads_),
          rows_(std::min(work_.count(), rows_max))
    {
        if (queries())
            fill();
    }
    bool queries() const
    {
        return plan_has_fills(plan_.spec.workload);
    }
    double operations() const
    {
        return double(queries() ? rows_ : spec_operations(&plan_.spec));
    }
    /* A host_run_fn: runs the queries `calls` times, or all updates once on refilled maps. */
    static elapsed run(void *dict, int calls)
    {
        return static_cast<HostDict *>(dict)->run_calls(calls);
    }
    bool is_right() const
    {
        return queries() ? std::accumulate(sums_.begin(), sums_.end(), uint64_t(0)) == sum_of_answers()
                         : updates_right();
    }

  private:
    /* Calls work(p) for each part, in a thread each. */
    template <typename Do> static void in_parts(size_t parts, Do work)
    {
        run_parts(
            int(parts), [](void *at, int p) { (*static_cast<Do *>(at))(size_t(p)); }, &work);
    }

    void fill()
    {
        in_parts(maps_.size(), [this](size_t p) {
            maps_[p] = kinds[kind_].open(type_bytes(plan_.spec.type), plan_.spec.value_bytes);
            if (table_.count())
                maps_[p]->run({}, { p, maps_.size() }, table_.rows(0, table_.count()));
        });
    }

    elapsed run_calls(int calls)
    {
        if (!queries())
            fill();
        const elapsed before = elapsed_now();
        for (int i = 0; i < (queries() ? calls : 1); i++)
            in_parts(threads_, [this](size_t p) { queries() ? query_part(p) : update_part(p); });
        return elapsed_since(before);
    }

    void update_part(size_t p)
    {
        for (size_t s = 0; s < plan_.work.n_steps; s++) {
            const struct step &step = plan_.work.steps[s];
            sums_[p] += maps_[p]->run(step, { p, maps_.size() }, work_.rows(step.at, step.count));
        }
    }

    void query_part(size_t p)
    {
        const size_t from = rows_ * p / threads_, count = rows_ * (p + 1) / threads_ - from;
        struct step  step = plan_.work.steps[0];
        step.call = step.call == DO_CONCURRENT ? DO_FIND : step.call;
        sums_[p] = maps_[0]->run(step, { 0, 1 }, work_.rows(from, count));
    }

    /* The expected sum of answers, see HostMap. */
    uint64_t sum_of_answers() const
    {
        const struct column_batch *cols = &plan_.work.cols;
        const enum step_call       call = plan_.work.steps[0].call;
        const bool                 range = call == DO_RANGE, seek = cols->rows[COL_KEYS_OUT] > 0;
        const size_t               rows = range ? size_t(column_get(cols, COL_OFFSETS, rows_)) : rows_;
        const auto                *found = as<uint8_t>(cols->at[COL_FOUND]);
        const auto                 key_at = [&](enum column_id column, size_t row) {
            return key_order(cols->type, column_get(cols, column, row));
        };
        uint64_t sum = 0;
        for (size_t row = 0; row < rows; row++) {
            const uint64_t value =
                cols->value_bytes ? column_get(cols, range ? COL_RANGE_VALUES : COL_VALUES_OUT, row) : 0;
            if (range)
                sum += key_at(COL_RANGE_KEYS, row) + value;
            else if (found[row])
                sum += value + (seek ? key_at(COL_KEYS_OUT, row) : 1);
        }
        return sum;
    }

    bool updates_right() const
    {
        const struct model  *model = &plan_.model;
        std::vector<Element> ours;
        for (const Map &map : maps_)
            map->elements(ours);
        if (!std::is_sorted(ours.begin(), ours.end()))
            std::sort(ours.begin(), ours.end());
        bool right = ours.size() == model->count;
        for (size_t i = 0; right && i < model->count; i++)
            right = ours[i] == Element(model_key(model, i), model_value(model, i));
        return right;
    }

    const struct dict_plan &plan_;
    int                     kind_;
    size_t                  threads_;
    Columns                 table_, work_;
    std::vector<Map>        maps_;
    std::vector<uint64_t>   sums_; /* per thread */
    size_t                  rows_; /* queries to run */
};

} // namespace

int dict_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    const double moves = double(spec->count) / double(spec_batch(spec)) * double(spec->count);
    int          n = 0;
    for (int kind = 0; kind < N_DICT_PEERS; kind++) {
        const Work *work = work_of(kind, spec->workload);
        const bool  array = kind == DICT_SORTED_ARRAY, slow = array && moves > MOVES_MAX;
        if (!work || type_is_wide(spec->type) || spec->count > ELEMENTS_MAX ||
            (slow && !plan_has_fills(spec->workload)))
            continue;
        for (int t = 1; t <= (work->array ? threads : 1); t += threads > 1 ? threads - 1 : 1)
            peers[n++] = { kinds[kind].name, kinds[kind].version, array ? work->array : work->map, kind, t, 0 };
    }
    return n;
}

const char *dict_baseline_name(enum workload workload, int i)
{
    static const char *const names[N_DICT_BASELINES] = { "btree", "flat_hash_map", "robin_map", "unordered_flat_map" };
    return i < N_DICT_BASELINES && work_of(i, workload) ? names[i] : nullptr;
}

bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out)
try {
    *out = {};
    out->rate = NAN;
    HostDict dict(*plan, peer->kind, peer->threads, peer->queries_max ? peer->queries_max : SIZE_MAX);
    time_host(HostDict::run, &dict, !dict.queries(), goal, &out->timing);
    out->rate = dict.operations() / out->timing.wall.median;
    out->right = dict.is_right();
    if (!out->right)
        because(out->why, "its answers differ from the model's");
    return true;
} catch (const std::bad_alloc &) {
    return because(out->why, "out of memory");
}
