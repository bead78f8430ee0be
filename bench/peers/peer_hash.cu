/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA hash tables: cuCollections' static_map and BGHT's bucketed cuckoo tables, from the build options cuco and
 * bght. Both use all ones as an empty slot, so such keys and values are left out. BGHT needs distinct keys, so all
 * tables get them. A build starts from a cleared table with allocated memory and paired input, which favours the
 * peers. */
#include "peer.hpp"

#include "bench/workload/keys.h"

#ifndef PEER_CUCO
#define PEER_CUCO 0
#endif
#ifndef PEER_BGHT
#define PEER_BGHT 0
#endif

#if PEER_CUCO
/* Removed in CCCL 3, used by some versions. */
#include <cuda/std/version>
#if CCCL_MAJOR_VERSION >= 3
namespace thrust {
template <typename T = void> struct identity {
    template <typename U> __host__ __device__ constexpr U &&operator()(U &&x) const
    {
        return static_cast<U &&>(x);
    }
};
} // namespace thrust
#endif
#include <cuco/static_map.cuh>
#endif

#if PEER_BGHT
#include <bght/bcht.hpp>
#include <bght/cht.hpp>
#endif

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

namespace {

/* The empty slot. The top bit of values is never set. */
template <typename T> constexpr T none = T(~T(0));

template <typename K, typename V> V value_of_key(K key)
{
    return V((uint64_t(key) * 0x9e3779b97f4a7c15ull >> (64 - 8 * sizeof(V))) & (none<V> >> 1));
}

template <typename K, typename V> struct Content {
    std::vector<K> keys; /* distinct */
    std::vector<K> queries;
    std::vector<V> answers; /* none: absent */
};

template <typename K> std::vector<K> distinct_keys(const struct spec &spec)
{
    std::vector<K> keys(spec.count);
    keys_draw(spec.type, spec.dist, spec.seed, spec.count, keys.data());
    std::replace(keys.begin(), keys.end(), none<K>, K(0));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

template <typename K, typename V> Content<K, V> draw_content(const struct spec &spec)
{
    Content<K, V>  content;
    std::vector<K> sorted = distinct_keys<K>(spec);
    const uint32_t hits = spec.workload == READRANDOM ? spec.hit_percent : 0;
    for (size_t i = 0; i < spec.n_queries && !sorted.empty(); i++) {
        const uint64_t r = draw(spec.seed + 8, i);
        K              key = sorted[r % sorted.size()];
        if (draw(spec.seed + 9, i) % 100 >= hits)
            do
                key = K(key + 1 + r / 2);
            while (key == none<K> || std::binary_search(sorted.begin(), sorted.end(), key));
        content.queries.push_back(key);
        content.answers.push_back(std::binary_search(sorted.begin(), sorted.end(), key) ? value_of_key<K, V>(key)
                                                                                        : none<V>);
    }
    std::shuffle(sorted.begin(), sorted.end(), std::mt19937_64(spec.seed));
    content.keys = std::move(sorted);
    return content;
}

/* A table of some capacity and its use. Table has Pair, clear(), insert(pairs, n), find(keys, n, values_out) on the
 * default stream. */
template <template <typename, typename> class Table, typename K, typename V> class Target {
  public:
    Target(const struct spec &spec, const Content<K, V> &content)
        : content_(content), table_(content.keys.size() * 100 / load_of(spec)), pairs_(pairs_of(content)),
          queries_(content.queries.size() * sizeof(K), content.queries.data()), values_(queries_of() * sizeof(V))
    {
        build();
    }
    void build()
    {
        table_.clear();
        table_.insert(pairs_.template as<Pair>(), content_.keys.size());
    }
    void find()
    {
        table_.find(queries_.template as<K>(), queries_of(), values_.template as<V>());
    }
    bool answers_right()
    {
        const auto bytes = values_.read();
        return std::equal(content_.answers.begin(), content_.answers.end(), reinterpret_cast<const V *>(bytes.data()));
    }
    /* Checks all inserted pairs. */
    bool content_right()
    {
        const Array keys(content_.keys.size() * sizeof(K), content_.keys.data());
        const Array values(content_.keys.size() * sizeof(V));
        table_.find(keys.template as<K>(), content_.keys.size(), values.template as<V>());
        const auto bytes = values.read();
        const V   *found = reinterpret_cast<const V *>(bytes.data());
        for (size_t i = 0; i < content_.keys.size(); i++)
            if (found[i] != value_of_key<K, V>(content_.keys[i]))
                return false;
        return true;
    }

  private:
    using Pair = typename Table<K, V>::Pair;

    static size_t load_of(const struct spec &spec)
    {
        return spec.load_percent ? spec.load_percent : 80;
    }
    static Array pairs_of(const Content<K, V> &content)
    {
        std::vector<Pair> pairs;
        pairs.reserve(content.keys.size());
        for (const K key : content.keys)
            pairs.push_back(Pair { key, value_of_key<K, V>(key) });
        return Array(pairs.size() * sizeof(Pair), pairs.data());
    }
    size_t queries_of() const
    {
        return content_.queries.size();
    }

    const Content<K, V> content_;
    Table<K, V>         table_;
    Array               pairs_, queries_, values_;
};

template <template <typename, typename> class Table, typename K, typename V>
void add_peer(std::vector<HashPeer> &list, const char *name, const struct spec &spec, const Content<K, V> &content)
{
    const auto target = std::make_shared<Target<Table, K, V>>(spec, content);
    if (spec.workload == BUILD)
        list.push_back({ name, [target] { target->build(); }, [target] { return target->content_right(); } });
    else
        list.push_back({ name, [target] { target->find(); }, [target] { return target->answers_right(); } });
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

#if PEER_CUCO
template <typename K, typename V> class Cuco {
  public:
    using Pair = cuco::pair<K, V>;

    explicit Cuco(size_t slots)
        : map_(cuco::extent<size_t> { slots }, cuco::empty_key<K> { none<K> }, cuco::empty_value<V> { none<V> })
    {
    }
    void clear()
    {
        map_.clear_async();
    }
    void insert(const Pair *pairs, size_t n)
    {
        map_.insert_async(pairs, pairs + n);
    }
    void find(const K *keys, size_t n, V *values_out)
    {
        map_.find_async(keys, keys + n, values_out);
    }

  private:
    cuco::static_map<K, V> map_;
};
#endif

#if PEER_BGHT
template <typename Map> class Bght {
  public:
    using Pair = typename Map::value_type;

    explicit Bght(size_t slots) : map_(slots, none<typename Map::key_type>, none<typename Map::mapped_type>)
    {
    }
    void clear()
    {
        map_.clear();
    }
    /* A cuckoo insert may fail: retries with other functions. */
    void insert(const Pair *pairs, size_t n)
    {
        for (int tries = 0; !map_.insert(pairs, pairs + n); tries++) {
            if (tries == 32)
                throw std::runtime_error("BGHT finds no functions for these keys");
            map_.randomize_hash_functions(random_);
            map_.clear();
        }
    }
    void find(const typename Map::key_type *keys, size_t n, typename Map::mapped_type *values_out)
    {
        map_.find(keys, keys + n, values_out);
    }

  private:
    Map          map_;
    std::mt19937 random_ { 1 };
};

template <typename K, typename V> using BucketsOf8 = Bght<bght::bcht8<K, V>>;
template <typename K, typename V> using BucketsOf1 = Bght<bght::cht<K, V>>;
#endif

template <typename K, typename V> std::vector<HashPeer> peers_of(const struct spec &spec)
{
    std::vector<HashPeer> list;
    const Content<K, V>   content = draw_content<K, V>(spec);
#if PEER_CUCO
    add_peer<Cuco>(list, "cuco::static_map", spec, content);
#endif
#if PEER_BGHT
    if constexpr (sizeof(K) == 4) /* a pair must be one atomic word */
        add_peer<BucketsOf8>(list, "bght::bcht8", spec, content);
    if constexpr (sizeof(K) == 4)
        if (spec.load_percent <= 80) /* one pair a slot, four functions: more load fails */
            add_peer<BucketsOf1>(list, "bght::cht", spec, content);
#endif
    return list;
}

} // namespace

std::vector<HashPeer> hash_peers(const struct spec &spec)
{
    if (!(PEER_CUCO || PEER_BGHT) || spec.variant != HASH || spec.count == 0 || spec.value_bytes == 0)
        return {};
    if (spec.workload != BUILD && spec.workload != READRANDOM && spec.workload != READMISSING)
        return {};
    if (spec.type == ORDO_U32 && spec.value_bytes == 4)
        return peers_of<uint32_t, uint32_t>(spec);
    if (spec.type == ORDO_U64 && spec.value_bytes == 8)
        return peers_of<uint64_t, uint64_t>(spec);
    return {};
}
