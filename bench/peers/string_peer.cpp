/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of std::string_view, as a program without a device would use for strings. */
#include "versions.hpp"

#include "ordo/strings.h"

extern "C" {
#include "bench/common/threads.h"
#include "bench/peers/host.h"
}

#if BENCH_BTREE
#include <absl/container/btree_map.h>
#include <absl/strings/string_view.h>
#endif
#if BENCH_HASH_MAP
#include <absl/container/flat_hash_map.h>
#endif
#if BENCH_MARISA
#include <marisa.h>
#endif
#if BENCH_JUDY
#include <Judy.h>
#endif

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using View = std::string_view;

/* TREE and HASHES have keys of std::string_view, MAP has std::string. */
enum Code { VECTOR, TREE, HASHES, MAP, MARISA, JUDY };

/* A workload has its kinds in order of their baselines. */
const struct Kind {
    enum workload workload;
    Code          code;
    const char   *baseline, *name, *call;
} kinds[] = {
    { SORTSTRINGS, VECTOR, "sort", "std::sort",
      "of pairs of std::string_view and row, in parts that std::inplace_merge merges" },
    { INDEXSTRINGS, VECTOR, "sort", "std::sort", "as for sortstrings, then one of each string" },
    { FINDSTRINGS, VECTOR, "binary", "std::lower_bound", "in a vector of std::string_view" },
    { PREFIXSTRINGS, VECTOR, "binary", "std::lower_bound",
      "and std::partition_point, in a vector of std::string_view" },
    { RANKSTRINGS, VECTOR, "binary", "std::lower_bound", "in a vector of std::string_view" },
    { COUNTSTRINGS, VECTOR, "binary", "std::lower_bound", "and std::partition_point, in a vector of std::string_view" },
#if BENCH_BTREE
    { UPSERTSTRINGS, MAP, "btree", "absl::btree_map", "insert_or_assign of std::string, one by one" },
    { ERASESTRINGS, MAP, "btree", "absl::btree_map", "erase of std::string, one by one" },
    { GETSTRINGS, MAP, "btree", "absl::btree_map", "find in a map of std::string" },
    { INDEXSTRINGS, TREE, "btree", "absl::btree_map", "try_emplace of std::string_view, one by one" },
    { FINDSTRINGS, TREE, "btree", "absl::btree_map", "find of std::string_view" },
#endif
#if BENCH_HASH_MAP
    { FINDSTRINGS, HASHES, "flat_hash_map", "absl::flat_hash_map", "find of std::string_view" },
#endif
#if BENCH_MARISA
    { FINDSTRINGS, MARISA, "marisa", "marisa::Trie", "lookup, then the rank in a vector" },
#endif
#if BENCH_JUDY
    { FINDSTRINGS, JUDY, "judysl", "JudySL", "JudySLGet" },
#endif
};

const char *version_of(Code code)
{
    switch (code) {
    case VECTOR:
        return STD_VERSION;
    case MARISA:
        return "libmarisa " BENCH_MARISA_VERSION;
    case JUDY:
        return "libJudy";
    default:
        return ABSL_VERSION;
    }
}

#if BENCH_BTREE
/* The view that a map of std::string takes. */
absl::string_view absl_view(View string)
{
    return { string.data(), string.size() };
}
#endif

/* NULL past the last. */
const Kind *kind_of(enum workload workload, int i)
{
    for (const Kind &kind : kinds)
        if (kind.workload == workload && i-- == 0)
            return &kind;
    return nullptr;
}

std::vector<View> views_of(const struct string_column &column)
{
    std::vector<View> views;
    views.reserve(column.count);
    for (size_t i = 0; i < column.count; i++) {
        const struct string_view string = string_at(&column, i);
        views.emplace_back(string.at, string.bytes);
    }
    return views;
}

class Strings {
  public:
    Strings(const struct spec &spec, const struct inputs &in, Code code, int threads)
        : spec_(spec), in_(in), code_(code), threads_(std::min(threads, MAX_PARTS)), views_(views_of(in.strings)),
          asked_(views_of(in.asked)), found_(spec.n_queries), counts_(spec.n_queries)
    {
        if (!queries())
            return;
        sort();
        number();
        if (code_ == MARISA)
            make_trie();
        if (code_ == JUDY)
            terminate_queries();
        for (size_t id = 0; id < keys_.size(); id++)
            put(keys_[id], code_ == MAP ? rows_of_ids_[id] : uint32_t(id));
    }
    Strings(const Strings &) = delete;
    Strings &operator=(const Strings &) = delete;
    ~Strings()
    {
#if BENCH_JUDY
        JudySLFreeArray(&judy_, PJE0);
#endif
    }
    bool queries() const
    {
        return workload_has_queries(spec_.workload);
    }
    /* A host_run_fn. */
    static elapsed run(void *strings, int calls)
    {
        return static_cast<Strings *>(strings)->run_calls(calls);
    }
    bool is_right(char *why)
    {
        std::vector<uint32_t> ids(views_.size());
        if ((code_ == TREE || code_ == MAP) && !queries())
            take_tree();
        for (size_t row = 0; row < ids.size() && !keys_.empty(); row++)
            ids[row] = id_of(views_[row]);
        std::vector<uint32_t> rows;
        for (const Entry &entry : entries_)
            rows.push_back(entry.second);
        const struct string_answer strings = { rows.data(), keys_.size(),  rows_of_ids_.data(),
                                               ids.data(),  found_.data(), counts_.data() };
        return strings_check(&spec_, &in_.strings, &in_.asked, &strings, why);
    }

  private:
    using Entry = std::pair<View, uint32_t>;

    elapsed run_calls(int calls)
    {
        entries_.clear();
        clear();
        if (!queries() && code_ == VECTOR)
            list();
        if (spec_.workload == ERASESTRINGS)
            put_all();
        const elapsed before = elapsed_now();
        for (int i = 0; i < calls; i++)
            if (queries())
                run_parts(
                    threads_, [](void *at, int p) { static_cast<Strings *>(at)->search_part(size_t(p)); }, this);
            else
                build();
        return elapsed_since(before);
    }

    void list()
    {
        entries_.reserve(views_.size());
        for (size_t row = 0; row < views_.size(); row++)
            entries_.emplace_back(views_[row], uint32_t(row));
    }
    void sort()
    {
        list();
        sort_entries();
    }
    auto entry_at(int part)
    {
        return entries_.begin() + std::ptrdiff_t(entries_.size() * size_t(part) / size_t(threads_));
    }
    /* Each thread sorts a part. Then one thread merges the parts. */
    void sort_entries()
    {
        run_parts(
            threads_,
            [](void *at, int p) {
                auto *strings = static_cast<Strings *>(at);
                std::sort(strings->entry_at(p), strings->entry_at(p + 1));
            },
            this);
        for (int p = 1; p < threads_; p++)
            std::inplace_merge(entries_.begin(), entry_at(p), entry_at(p + 1));
    }
    /* Keeps one of each string: of an index the first, of a dictionary the last. */
    void number()
    {
        keys_.clear();
        rows_of_ids_.clear();
        for (const Entry &entry : entries_)
            if (keys_.empty() || keys_.back() != entry.first) {
                keys_.push_back(entry.first);
                rows_of_ids_.push_back(entry.second);
            } else if (workload_is_string_dict(spec_.workload)) {
                rows_of_ids_.back() = entry.second;
            }
    }
    void put_all()
    {
        for (size_t row = 0; row < views_.size(); row++)
            put(views_[row], uint32_t(row));
    }
    void build()
    {
        if (spec_.workload == ERASESTRINGS) {
            erase();
            return;
        }
        if (code_ == TREE || code_ == MAP) {
            put_all();
            return;
        }
        sort_entries();
        if (spec_.workload == INDEXSTRINGS)
            number();
    }

    void search_part(size_t p)
    {
        const size_t n = spec_.n_queries, parts = size_t(threads_);
        for (size_t i = n * p / parts; i < n * (p + 1) / parts; i++)
            if (spec_.workload == PREFIXSTRINGS || spec_.workload == COUNTSTRINGS)
                find_prefix(i);
            else if (spec_.workload == RANKSTRINGS)
                found_[i] = rank_of(asked_[i]);
            else
                found_[i] = find(asked_[i]);
    }
    void find_prefix(size_t i)
    {
        const View prefix = asked_[i];
        const auto first = std::lower_bound(keys_.begin(), keys_.end(), prefix);
        const auto last = std::partition_point(
            first, keys_.end(), [prefix](View key) { return key.compare(0, prefix.size(), prefix) == 0; });
        found_[i] = uint32_t(first - keys_.begin());
        counts_[i] = uint32_t(last - first);
    }
    uint32_t rank_of(View query) const
    {
        return uint32_t(std::lower_bound(keys_.begin(), keys_.end(), query) - keys_.begin());
    }
    uint32_t id_of(View query) const
    {
        const uint32_t id = rank_of(query);
        return id < keys_.size() && keys_[id] == query ? id : ORDO_NO_ID;
    }
    uint32_t find(View query) const
    {
#if BENCH_BTREE
        if (code_ == TREE)
            return value_of(tree_, query, ORDO_NO_ID);
        if (code_ == MAP)
            return value_of(map_, absl_view(query), uint32_t(POISON_WORD));
#endif
#if BENCH_HASH_MAP
        if (code_ == HASHES)
            return value_of(hashes_, query, ORDO_NO_ID);
#endif
#if BENCH_MARISA
        if (code_ == MARISA)
            return id_in_trie(query);
#endif
#if BENCH_JUDY
        if (code_ == JUDY) {
            const auto *value = reinterpret_cast<const Word_t *>(JudySLGet(judy_, bytes_of(query), PJE0));
            return value ? uint32_t(*value) : ORDO_NO_ID;
        }
#endif
        return id_of(query);
    }
#if BENCH_MARISA
    uint32_t id_in_trie(View query) const
    {
        static thread_local marisa::Agent agent;
        agent.set_query(query.data(), query.size());
        return trie_.lookup(agent) ? rank_of_key_[agent.key().id()] : ORDO_NO_ID;
    }
#endif
    /* Numbers of keys in the trie are not ranks. */
    void make_trie()
    {
#if BENCH_MARISA
        marisa::Keyset keys;
        for (View key : keys_)
            keys.push_back(key.data(), key.size());
        trie_.build(keys);
        rank_of_key_.resize(keys.size());
        for (size_t id = 0; id < keys.size(); id++)
            rank_of_key_[keys[id].id()] = uint32_t(id);
#endif
    }
#if BENCH_JUDY
    static const uint8_t *bytes_of(View terminated)
    {
        return reinterpret_cast<const uint8_t *>(terminated.data());
    }
#endif
    static void refuse_nul(View string)
    {
        if (string.find('\0') != View::npos)
            throw std::domain_error("a string has a NUL");
    }
    /* JudySL takes strings that end with a NUL. */
    void terminate_queries()
    {
        std::for_each(keys_.begin(), keys_.end(), refuse_nul);
        std::for_each(asked_.begin(), asked_.end(), refuse_nul);
        for (View query : asked_)
            text_.append(query).push_back('\0');
        size_t at = 0;
        for (View &query : asked_) {
            query = View(text_.data() + at, query.size());
            at += query.size() + 1;
        }
    }
    template <typename Map, typename Key> static uint32_t value_of(const Map &map, Key query, uint32_t none)
    {
        const auto at = map.find(query);
        return at == map.end() ? none : at->second;
    }

    /* Into the map, if this is one. */
    void put([[maybe_unused]] View key, [[maybe_unused]] uint32_t value)
    {
#if BENCH_BTREE
        if (code_ == TREE)
            tree_.try_emplace(key, value);
        if (code_ == MAP)
            map_.insert_or_assign(std::string(key), value);
#endif
#if BENCH_HASH_MAP
        if (code_ == HASHES)
            hashes_.try_emplace(key, value);
#endif
#if BENCH_JUDY
        if (code_ == JUDY) {
            const std::string terminated(key);
            const PPvoid_t    to = JudySLIns(&judy_, bytes_of(terminated), PJE0);
            if (!to || to == PPJERR)
                throw std::bad_alloc();
            *reinterpret_cast<Word_t *>(to) = value;
        }
#endif
    }
    void clear()
    {
#if BENCH_BTREE
        if (!queries()) {
            tree_.clear();
            map_.clear();
        }
#endif
    }
    void erase()
    {
#if BENCH_BTREE
        for (size_t row = 0; row < spec_erased_strings(&spec_); row++)
            map_.erase(absl_view(views_[row]));
#endif
    }
    void take_tree()
    {
#if BENCH_BTREE
        for (const auto &[key, row] : tree_) {
            keys_.push_back(key);
            rows_of_ids_.push_back(row);
        }
        for (const auto &[key, row] : map_) {
            keys_.push_back(key);
            rows_of_ids_.push_back(row);
        }
#endif
    }

    const struct spec    &spec_;
    const struct inputs  &in_;
    Code                  code_;
    int                   threads_;
    std::vector<View>     views_, asked_, keys_; /* keys_: each different string, in order */
    std::vector<Entry>    entries_;
    std::vector<uint32_t> rows_of_ids_, found_, counts_;
#if BENCH_BTREE
    absl::btree_map<View, uint32_t>        tree_;
    absl::btree_map<std::string, uint32_t> map_;
#endif
#if BENCH_HASH_MAP
    absl::flat_hash_map<View, uint32_t> hashes_;
#endif
#if BENCH_MARISA
    marisa::Trie          trie_;
    std::vector<uint32_t> rank_of_key_;
#endif
    std::string text_; /* of queries that end with a NUL */
#if BENCH_JUDY
    Pvoid_t judy_ = nullptr;
#endif
};

#define ROWS_MAX (size_t(1) << 24)

} // namespace

int string_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    const Kind *kind;
    int         n = 0;
    for (int i = 0; (kind = kind_of(spec->workload, i)) && spec->count <= ROWS_MAX; i++) {
        if (kind->code == JUDY && spec->variant == STRINGS_RANDOM)
            continue;
        const bool shared = workload_has_queries(spec->workload) || kind->code == VECTOR;
        for (int t = 1; t <= (shared ? threads : 1); t += threads > 1 ? threads - 1 : 1)
            peers[n++] = { kind->name, version_of(kind->code), kind->call, i, t, 0 };
    }
    return n;
}

const char *string_baseline_name(enum workload workload, int i)
{
    const Kind *kind = kind_of(workload, i);
    return kind ? kind->baseline : nullptr;
}

bool string_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                         const struct timing_goal *goal, struct host_figures *out)
try {
    *out = {};
    out->rate = NAN;
    Strings strings(*spec, *in, kind_of(spec->workload, peer->kind)->code, peer->threads);
    time_host(Strings::run, &strings, !strings.queries(), goal, &out->timing);
    out->rate = double(spec_operations(spec)) / out->timing.wall.median;
    out->right = strings.is_right(out->why);
    return true;
} catch (const std::bad_alloc &) {
    return because(out->why, "out of memory");
} catch (const std::exception &error) {
    return because(out->why, "%s", error.what());
}
