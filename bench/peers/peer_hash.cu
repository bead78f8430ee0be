/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA hash tables: cuCollections' static_map and BGHT's bucketed cuckoo tables, from the build options cuco and
 * bght. Both use all ones as an empty slot, so such keys and values are left out. BGHT needs distinct keys, so all
 * tables get them. A build starts from a cleared table with allocated memory and paired input, which favours the
 * peers. */
#include "peer_dict.hpp"

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

#include <memory>
#include <random>

namespace {

template <typename K, typename V> struct Content {
    std::vector<K> keys;    /* distinct */
    std::vector<K> queries; /* a build is checked by all its keys */
    std::vector<V> answers; /* none: absent */

    explicit Content(const struct spec &spec) : keys(distinct_keys<K>(spec))
    {
        const std::vector<K> sorted = keys;
        const uint32_t       hits = spec.workload == READRANDOM ? spec.hit_percent : 0;
        const auto           is_there = [&](K key) { return std::binary_search(sorted.begin(), sorted.end(), key); };
        std::shuffle(keys.begin(), keys.end(), std::mt19937_64(spec.seed));
        if (spec.workload == BUILD)
            queries = keys;
        for (size_t i = 0; i < spec.n_queries; i++) {
            const uint64_t r = draw(spec.seed + 8, i);
            K              key = sorted[r % sorted.size()];
            if (draw(spec.seed + 9, i) % 100 >= hits)
                do
                    key = K(key + 1 + r / 2);
                while (key == none<K> || is_there(key));
            queries.push_back(key);
        }
        for (const K key : queries)
            answers.push_back(is_there(key) ? value_of_key<K, V>(key) : none<V>);
    }
};

/* Table has Pair, clear(), insert(pairs, n), find(keys, n, values_out) on the default stream. */
template <template <typename, typename> class Table, typename K, typename V>
Peer peer_of(const char *name, const struct spec &spec, const std::shared_ptr<Content<K, V>> &content)
{
    using Pair = typename Table<K, V>::Pair;
    struct State {
        Table<K, V>              table;
        thrust::device_vector<K> queries;
        thrust::device_vector<V> values;
        Array                    pairs;
    };
    const size_t      n = content->keys.size(), load = spec.load_percent ? spec.load_percent : 80;
    const auto        state = std::shared_ptr<State>(new State {
        Table<K, V>(n * 100 / load), content->queries, thrust::device_vector<V>(content->queries.size()), {} });
    std::vector<Pair> pairs;
    for (const K key : content->keys)
        pairs.push_back(Pair { key, value_of_key<K, V>(key) });
    state->pairs = array_of(n * sizeof(Pair), pairs.data());
    const Call build = [=] {
        state->table.clear();
        state->table.insert(as<Pair>(state->pairs), n);
    };
    const Call find = [=] {
        state->table.find(state->queries.data().get(), state->queries.size(), state->values.data().get());
    };
    build();
    return { name, spec.workload == BUILD ? build : find, [=](char *) {
                thrust::fill(state->values.begin(), state->values.end(), V(0));
                find();
                std::vector<V> found(state->values.size());
                thrust::copy(state->values.begin(), state->values.end(), found.begin());
                return found == content->answers;
            } };
}

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

template <typename K, typename V> std::vector<Peer> peers_of(const struct spec &spec)
{
    const auto        content = std::make_shared<Content<K, V>>(spec);
    std::vector<Peer> list;
#if PEER_CUCO
    list.push_back(peer_of<Cuco>("cuco::static_map", spec, content));
#endif
#if PEER_BGHT
    if constexpr (sizeof(K) == 4) { /* a pair must be one atomic word */
        list.push_back(peer_of<BucketsOf8>("bght::bcht8", spec, content));
        if (spec.load_percent <= 80) /* one pair a slot, four functions: more load fails */
            list.push_back(peer_of<BucketsOf1>("bght::cht", spec, content));
    }
#endif
    return list;
}

} // namespace

std::vector<Peer> hash_peers(const struct spec &spec)
{
    const bool is_there = PEER_CUCO || PEER_BGHT, reads = spec.workload == READRANDOM || spec.workload == READMISSING;
    if (!is_there || spec.count == 0 || !(reads || spec.workload == BUILD))
        return {};
    if (spec.type == ORDO_U32 && spec.value_bytes == 4)
        return peers_of<uint32_t, uint32_t>(spec);
    if (spec.type == ORDO_U64 && spec.value_bytes == 8)
        return peers_of<uint64_t, uint64_t>(spec);
    return {};
}
