/* SPDX-License-Identifier: Apache-2.0 */
#include "host_map.hpp"

extern "C" {
#include "bench/common/threads.h"
#include "bench/peers/host.h"
#include "bench/workload/keys.h"
}

#if BENCH_BTREE || BENCH_HASH_MAP
#include <absl/base/config.h>
#endif
#if BENCH_BTREE
#include <absl/container/btree_map.h>
#endif
#if BENCH_HASH_MAP
#include <absl/container/flat_hash_map.h>
#endif
#if BENCH_ROBIN_MAP
#include <tsl/robin_map.h>
#endif

#include <cmath>
#include <cstdio>
#include <memory>

namespace {

/* ---- kinds of maps ------------------------------------------------------------------------------------------- */

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#ifdef _GLIBCXX_RELEASE
#define STD_VERSION "libstdc++ " TEXT_OF(_GLIBCXX_RELEASE)
#else
#define STD_VERSION "the C++ library"
#endif
#ifdef ABSL_LTS_RELEASE_VERSION
#define ABSL_VERSION "Abseil " TEXT_OF(ABSL_LTS_RELEASE_VERSION)
#else
#define ABSL_VERSION "Abseil"
#endif

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

/* By host_map_kind. A kind without a version is not built in. */
const struct Kind {
    Map (*open)(size_t key_bytes, size_t value_bytes);
    const char *version;
} kinds[N_HOST_MAPS] = { { BTREE },
                         { open_one<StdMap>, STD_VERSION },
                         { open_one<SortedArray>, STD_VERSION },
                         { FLAT_HASH_MAP },
                         { ROBIN_MAP } };
const char *const kind_names[N_HOST_MAPS] = { "absl::btree_map", "std::map", "sorted array", "absl::flat_hash_map",
                                              "tsl::robin_map" };

/* ---- who can do what ----------------------------------------------------------------------------------------- */

#define ELEMENTS_MAX (size_t(1) << 24)
/* Elements that a sorted array may move in all batches. */
#define MOVES_MAX 0x1p31

/* Whether all maps can do it, with several threads too. The others need maps of nodes and one thread. */
bool is_dealt(enum workload workload)
{
    static const enum workload dealt[] = { FILLRANDOM,       FILLSEQ,        BUILD,         OVERWRITE,
                                           DELETERANDOM,     INSERTRANDOM,   COMBINERANDOM, CONCURRENTFILL,
                                           CONCURRENTINSERT, CONCURRENTREAD, READRANDOM,    READMISSING,
                                           SEEKRANDOM,       RANGERANDOM,    LONGESTPREFIX };
    return std::count(std::begin(dealt), std::end(dealt), workload_on_device(workload)) > 0;
}

bool can(int kind, enum workload workload)
{
    static const enum workload of_nodes[] = { MIXED, MIXEDSEEKS, MIXEDPOINTS, DELETERANGE, QUEUE, EXPIRY, ORDERBOOK };
    if (kind == HOST_FLAT_HASH_MAP || kind == HOST_ROBIN_MAP)
        return is_dealt(workload) && !workload_needs_order(workload);
    return is_dealt(workload) || std::count(std::begin(of_nodes), std::end(of_nodes), workload) > 0;
}

const char *query_text(enum workload workload, bool array)
{
    if (workload == SEEKRANDOM)
        return array ? "std::lower_bound" : "lower_bound";
    if (workload == LONGESTPREFIX)
        return array ? "std::upper_bound among segments" : "upper_bound among segments, then --";
    if (workload == RANGERANDOM)
        return array ? "std::lower_bound, then onwards" : "lower_bound, then ++";
    return array ? "std::lower_bound" : "find";
}

const char *update_text(enum workload workload)
{
    switch (workload) {
    case DELETERANDOM:
        return "erase, one by one";
    case COMBINERANDOM:
        return "operator[] and +=, one by one";
    case DELETERANGE:
        return "erase(lower_bound, upper_bound)";
    case QUEUE:
        return "erase(begin, ...), insert_or_assign";
    case EXPIRY:
        return "insert_or_assign, erase(lower_bound, upper_bound)";
    case ORDERBOOK:
        return "operator[] and +=, begin, rbegin";
    case MIXED:
    case MIXEDSEEKS:
    case MIXEDPOINTS:
        return "the call of each operation, one by one";
    default:
        return "insert_or_assign, one by one";
    }
}

bool offered(const struct spec *spec, int kind, int threads)
{
    const double batches = double(spec->count) / double(spec_batch(spec));
    if (!kinds[kind].version || !can(kind, spec->workload) || spec->count > ELEMENTS_MAX ||
        (threads > 1 && !is_dealt(spec->workload)))
        return false;
    return kind != HOST_SORTED_ARRAY ||
           (is_dealt(spec->workload) && (plan_has_fills(spec->workload) || batches * double(spec->count) <= MOVES_MAX));
}

/* ---- a map, or one for each part of the keys, on a plan -------------------------------------------------------- */

/* Input columns in ordered form. */
struct Inputs {
    std::vector<char> keys, uppers;
    const char       *values;
    const uint8_t    *codes;
    size_t            key_bytes, value_bytes, rows;

    explicit Inputs(const struct column_batch &cols)
        : keys(ordered(cols, COL_KEYS)), uppers(ordered(cols, COL_HI)),
          values(cols.value_bytes ? as<char>(cols.at[COL_VALUES]) : nullptr), codes(as<uint8_t>(cols.at[COL_CODES])),
          key_bytes(type_bytes(cols.type)), value_bytes(cols.value_bytes), rows(cols.rows[COL_KEYS])
    {
    }
    const void *key(size_t row) const
    {
        return keys.data() + key_bytes * row;
    }
    const void *hi(size_t row) const
    {
        return uppers.empty() ? nullptr : uppers.data() + key_bytes * row;
    }
    const void *value(size_t row) const
    {
        return values ? values + value_bytes * row : nullptr;
    }

  private:
    static std::vector<char> ordered(const struct column_batch &cols, enum column_id column)
    {
        const size_t      bytes = type_bytes(cols.type);
        std::vector<char> keys(cols.rows[column] * bytes);
        for (size_t i = 0; i < cols.rows[column]; i++)
            set_element(keys.data(), bytes, i, key_order(cols.type, column_get(&cols, column, i)));
        return keys;
    }
};

class HostDict {
  public:
    HostDict(const struct dict_plan &plan, int kind, int threads, size_t rows_max)
        : plan_(plan), kind_(kind), threads_(threads > MAX_PARTS ? MAX_PARTS : threads), table_(plan.table.cols),
          work_(plan.work.cols), maps_(queries() ? 1 : size_t(threads_)), parts_(maps_.size()), sums_(size_t(threads_)),
          rows_(std::min(work_.rows, rows_max))
    {
        cut_parts();
        if (queries())
            fill();
    }
    bool queries() const
    {
        return plan_has_fills(plan_.spec.workload);
    }
    size_t rows() const
    {
        return rows_;
    }
    /* A host_run_fn: runs the queries `calls` times, or all updates once on refilled maps. */
    static double run(void *dict, int calls)
    {
        return static_cast<HostDict *>(dict)->run_calls(calls);
    }
    bool is_right() const
    {
        return queries() ? all_sums() == sum_of_answers() : updates_right();
    }

  private:
    /* Calls work(p) for each part, in a thread each. */
    template <typename Work> static void in_parts(size_t parts, Work work)
    {
        run_parts(
            int(parts), [](void *at, int p) { (*static_cast<Work *>(at))(size_t(p)); }, &work);
    }

    /* Cuts parts of about equal size by a sample of the keys. */
    void cut_parts()
    {
        const Inputs         &from = table_.rows ? table_ : work_;
        const size_t          n = std::min(from.rows, size_t(1024));
        std::vector<uint64_t> sample(n);
        for (size_t i = 0; i < n; i++)
            sample[i] = element(from.keys.data(), from.key_bytes, i * (from.rows / n));
        std::sort(sample.begin(), sample.end());
        uint64_t lo = 0;
        for (size_t p = 0; p < parts_.size(); p++) {
            const bool last = p + 1 == parts_.size() || n == 0;
            uint64_t   hi = last ? UINT64_MAX : sample[n * (p + 1) / parts_.size()];
            hi -= hi == UINT64_MAX && !last; /* leaves a key for the last part */
            parts_[p] = { lo, hi };
            lo = hi >= lo && hi < UINT64_MAX ? hi + 1 : lo; /* few distinct keys leave parts empty */
        }
    }

    void fill()
    {
        in_parts(maps_.size(), [this](size_t p) {
            maps_[p] = kinds[kind_].open(work_.key_bytes, work_.value_bytes);
            if (table_.rows)
                maps_[p]->put(parts_[p], table_.key(0), table_.value(0), table_.rows);
        });
    }

    double run_calls(int calls)
    {
        if (!queries())
            fill();
        const double before = now();
        for (int i = 0; i < (queries() ? calls : 1); i++)
            in_parts(size_t(threads_), [this](size_t p) { sums_[p] = queries() ? query_part(p) : update_part(p); });
        return now() - before;
    }

    /* Runs the part's share of all steps. */
    uint64_t update_part(size_t p)
    {
        uint64_t sum = 0;
        for (size_t s = 0; s < plan_.work.n_steps; s++)
            sum += do_step(*maps_[p], parts_[p], plan_.work.steps[s]);
        return sum;
    }

    uint64_t do_step(HostMap &map, Part part, const struct step &step) const
    {
        const void *keys = work_.key(step.at), *hi = work_.hi(step.at), *values = work_.value(step.at);
        switch (step.call) {
        case DO_ERASE:
            map.erase(part, keys, step.count);
            return 0;
        case DO_COMBINE:
            map.add(part, keys, values, step.count);
            return 0;
        case DO_ERASE_RANGE:
            map.erase_range(keys, hi, step.count);
            return 0;
        case DO_TAKE_FIRST:
            return map.take_first(step.count);
        case DO_PEEK_FIRST:
        case DO_PEEK_LAST:
            return map.peek(step.call == DO_PEEK_LAST, step.count);
        case DO_APPLY:
            return map.apply(work_.codes + step.at, keys, hi, values, step.count);
        default:
            map.put(part, keys, values, step.count);
            return 0;
        }
    }

    uint64_t query_part(size_t p) const
    {
        const size_t threads = size_t(threads_), from = rows_ * p / threads, count = rows_ * (p + 1) / threads - from;
        switch (plan_.spec.workload) {
        case SEEKRANDOM:
            return maps_[0]->seek(work_.key(from), count);
        case LONGESTPREFIX:
            return maps_[0]->floor(work_.key(from), count);
        case RANGERANDOM:
            return maps_[0]->range(work_.key(from), work_.hi(from), count);
        default:
            return maps_[0]->find(work_.key(from), count);
        }
    }

    uint64_t all_sums() const
    {
        uint64_t sum = 0;
        for (const uint64_t part : sums_)
            sum += part;
        return sum;
    }

    /* The expected sum of answers, see HostMap. */
    uint64_t sum_of_answers() const
    {
        const struct column_batch *cols = &plan_.work.cols;
        const bool                 range = plan_.spec.workload == RANGERANDOM, seek = plan_.spec.workload == SEEKRANDOM;
        const size_t               rows = cols->rows[range ? COL_RANGE_KEYS : COL_KEYS];
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

    /* Whether the maps equal the model. */
    bool updates_right() const
    {
        const struct model *model = &plan_.model;
        uint64_t            ours = 0, theirs = 0;
        size_t              count = 0;
        for (const Map &map : maps_) {
            theirs += map->sum(count);
            count += map->count();
        }
        for (size_t i = 0; i < model->count; i++)
            ours += share_of(model_key(model, i), model_value(model, i), i);
        return count == model->count && ours == theirs;
    }

    const struct dict_plan &plan_;
    int                     kind_, threads_;
    Inputs                  table_, work_;
    std::vector<Map>        maps_;
    std::vector<Part>       parts_;
    std::vector<uint64_t>   sums_; /* per thread */
    size_t                  rows_; /* queries to run */
};

} // namespace

/* ---- for ordo-bench ------------------------------------------------------------------------------------------ */

int dict_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    int n = 0;
    for (int kind = 0; kind < N_HOST_MAPS; kind++)
        for (int t = 1; t <= threads; t += threads > 1 ? threads - 1 : 1) {
            const bool array = kind == HOST_SORTED_ARRAY, queries = plan_has_fills(spec->workload);
            if (!offered(spec, kind, t))
                continue;
            struct host_peer *peer = &peers[n++];
            *peer = {};
            peer->kind = kind;
            peer->threads = t;
            snprintf(peer->name, sizeof peer->name, "%s", kind_names[kind]);
            snprintf(peer->version, sizeof peer->version, "%s", kinds[kind].version);
            snprintf(peer->call, sizeof peer->call, "%s%s",
                     queries ? query_text(spec->workload, array)
                     : array ? "std::stable_sort of a batch, one merge"
                             : update_text(spec->workload),
                     !queries && t > 1 ? "; a map a thread" : "");
        }
    return n;
}

bool dict_peer_has(enum host_map_kind kind, enum workload workload)
{
    return kinds[kind].version && can(kind, workload);
}

bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out)
try {
    *out = {};
    out->rate = NAN;
    HostDict dict(*plan, peer->kind, peer->threads, SIZE_MAX);
    time_host(HostDict::run, &dict, !dict.queries(), goal, &out->timing);
    out->rate = double(spec_operations(&plan->spec)) / out->timing.wall.median;
    out->right = dict.is_right();
    if (!out->right)
        because(out->why, "its answers differ from the model's");
    return true;
} catch (const std::bad_alloc &) {
    return because(out->why, "out of memory");
}

double dict_peer_rate(const struct dict_plan *plan, enum host_map_kind kind, int threads, int times,
                      size_t queries_most)
try {
    double seconds[REPETITIONS_MAX];
    if (!dict_peer_has(kind, plan->spec.workload))
        return NAN;
    HostDict dict(*plan, kind, threads, queries_most);
    for (int i = 0; i < times; i++)
        seconds[i] = HostDict::run(&dict, 1);
    return double(dict.queries() ? dict.rows() : spec_operations(&plan->spec)) / spread_of(seconds, times).median;
} catch (const std::bad_alloc &) {
    return NAN;
}
