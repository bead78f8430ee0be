/* SPDX-License-Identifier: Apache-2.0 */
/* MVGpuBTree's B-link tree (Awad et al., without versions), from the build option mvgpubtree. It stores pairs of 4-byte
 * keys and values. Key 0 is its own, and all ones mean "no key", so both are left out. */
#include "peer_dict.hpp"

#ifndef PEER_MVGPUBTREE
#define PEER_MVGPUBTREE 0
#endif

#if PEER_MVGPUBTREE

#include <cooperative_groups.h>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

#include <gpu_btree.h>

namespace peer_tree {

/* Nodes in one buffer that ordo-peer owns, so that it can restore a tree to an earlier state. */
template <typename T> struct Arena {
    using value_type = T;
    using pointer_type = uint32_t;

    T        *nodes = next_nodes;
    uint32_t *used = next_used;

    /* The tree makes its own Arena without arguments, from these. */
    static inline T        *next_nodes;
    static inline uint32_t *next_used;
};

} // namespace peer_tree

/* The tree allocates by this interface. */
template <typename T> struct device_allocator_context<peer_tree::Arena<T>> {
    using value_type = T;
    using pointer = uint32_t;
    using size_type = uint32_t;

    template <typename Tile> __device__ device_allocator_context(peer_tree::Arena<T> &, const Tile &)
    {
    }
    template <typename Tile> __device__ uint32_t allocate(peer_tree::Arena<T> &arena, uint32_t n, const Tile &tile)
    {
        const uint32_t at = tile.thread_rank() == 0 ? atomicAdd(arena.used, n) : 0;
        return tile.shfl(at, 0);
    }
    __device__ void deallocate(peer_tree::Arena<T> &, uint32_t, uint32_t)
    {
    }
    __device__ T *address(peer_tree::Arena<T> &arena, uint32_t at) const
    {
        return arena.nodes + at;
    }
};

namespace peer_tree {

constexpr int node_pairs = 16;
using Node = GpuBTree::node_type<uint32_t, uint32_t, node_pairs>;
using Tree = GpuBTree::gpu_blink_tree<uint32_t, uint32_t, node_pairs, Arena<Node>>;
using Words = thrust::device_vector<uint32_t>;

/* A tree with room for `most` elements. Split nodes are half full at least, and the levels above add a seventh. */
class Btree {
  public:
    explicit Btree(size_t most) : nodes_((most / (node_pairs / 2 - 1) + 1) * 5 / 4 + 64), used_(1, 0)
    {
        Arena<Node>::next_nodes = nodes_.data().get();
        Arena<Node>::next_used = used_.data().get();
        tree_ = std::make_unique<Tree>();
        save();
    }
    Tree &operator*()
    {
        return *tree_;
    }
    void save()
    {
        saved_used_ = used_[0];
        if (saved_used_ > nodes_.size())
            throw std::runtime_error("MVGpuBTree has used more nodes than there are");
        saved_.assign(nodes_.begin(), nodes_.begin() + saved_used_);
    }
    void restore()
    {
        thrust::copy(saved_.begin(), saved_.end(), nodes_.begin());
        used_[0] = saved_used_;
    }

  private:
    thrust::device_vector<Node> nodes_, saved_;
    Words                       used_;
    uint32_t                    saved_used_ = 0;
    std::unique_ptr<Tree>       tree_;
};

/* Elements of the tree before the timed call, keys of the call, and the answers of all keys after it. */
struct Content {
    std::vector<uint32_t> table, batch, all, answers; /* answers: none if absent */

    explicit Content(const struct spec &spec)
    {
        std::vector<uint32_t> keys = distinct_keys<uint32_t>(spec);
        keys.erase(keys.begin(), std::upper_bound(keys.begin(), keys.end(), 0u));
        const std::vector<uint32_t> sorted = keys;
        std::mt19937_64             random(spec.seed);
        std::shuffle(keys.begin(), keys.end(), random);
        switch (spec.workload) {
        case CONCURRENTFILL:
            batch = keys;
            break;
        case CONCURRENTERASE:
            table = keys;
            batch.assign(keys.begin(), keys.begin() + (ptrdiff_t) std::min(spec_changes(&spec), keys.size()));
            std::shuffle(batch.begin(), batch.end(), random);
            break;
        case CONCURRENTINSERT:
            table = keys;
            batch = new_keys(spec, sorted, spec_batch(&spec));
            break;
        default:
            table = keys;
            queries(spec, sorted);
        }
        list_answers(spec.workload);
    }

  private:
    static std::vector<uint32_t> new_keys(const struct spec &spec, const std::vector<uint32_t> &sorted, size_t n)
    {
        std::vector<uint32_t> list;
        for (uint64_t i = 0; list.size() < n; i++) {
            const uint32_t key = (uint32_t) draw(spec.seed + 8, i);
            if (key != 0 && key != none<uint32_t> && !std::binary_search(sorted.begin(), sorted.end(), key))
                list.push_back(key);
            if (list.size() == n) { /* the same key may be drawn twice */
                std::vector<uint32_t> ascending = list;
                std::sort(ascending.begin(), ascending.end());
                ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
                list = ascending;
            }
        }
        std::shuffle(list.begin(), list.end(), std::mt19937_64(spec.seed));
        return list;
    }
    void queries(const struct spec &spec, const std::vector<uint32_t> &sorted)
    {
        const std::vector<uint32_t> absent = new_keys(spec, sorted, 4096);
        const uint32_t              hits = spec.workload == READMISSING ? 0 : spec.hit_percent;
        for (size_t i = 0; i < spec.n_queries; i++) {
            const uint64_t r = draw(spec.seed + 9, i);
            const bool     hit = r / sorted.size() % 100 < hits;
            batch.push_back(hit ? sorted[r % sorted.size()] : absent[r % absent.size()]);
        }
    }
    void list_answers(enum workload workload)
    {
        std::vector<uint32_t> erased;
        all = batch;
        if (!workload_has_queries(workload))
            all.insert(all.end(), table.begin(), table.end());
        if (workload == CONCURRENTERASE) {
            erased = batch;
            std::sort(erased.begin(), erased.end());
        }
        std::vector<uint32_t> there = table;
        if (workload == CONCURRENTFILL || workload == CONCURRENTINSERT)
            there.insert(there.end(), batch.begin(), batch.end());
        std::sort(there.begin(), there.end());
        for (const uint32_t key : all) {
            const bool is_there = std::binary_search(there.begin(), there.end(), key) &&
                                  !std::binary_search(erased.begin(), erased.end(), key);
            answers.push_back(is_there ? value_of_key<uint32_t, uint32_t>(key) : none<uint32_t>);
        }
    }
};

std::vector<uint32_t> values_of(const std::vector<uint32_t> &keys)
{
    std::vector<uint32_t> values;
    for (const uint32_t key : keys)
        values.push_back(value_of_key<uint32_t, uint32_t>(key));
    return values;
}

struct State {
    Btree tree;
    Words batch, values, found; /* of the timed call */
    Words all;                  /* keys of the check */

    State(const Content &content, size_t most)
        : tree(most), batch(content.batch), values(values_of(content.batch)), found(content.all.size()),
          all(content.all)
    {
        if (content.table.empty())
            return;
        const Words keys = content.table, table_values = values_of(content.table);
        (*tree).insert(keys.data().get(), table_values.data().get(), (uint32_t) keys.size());
        tree.save();
    }
};

Call call_of(enum workload workload, const std::shared_ptr<State> &s)
{
    const auto n = (uint32_t) s->batch.size();
    if (workload == CONCURRENTERASE)
        return [=] { (*s->tree).erase(s->batch.data().get(), n, 0, true); };
    if (!workload_has_queries(workload))
        return [=] { (*s->tree).insert(s->batch.data().get(), s->values.data().get(), n); };
    const bool beside_writers = workload == CONCURRENTREAD;
    return [=] { (*s->tree).find(s->batch.data().get(), s->found.data().get(), n, 0, beside_writers); };
}

} // namespace peer_tree

std::vector<Peer> tree_peers(const struct spec &spec)
{
    using namespace peer_tree;
    const enum workload w = spec.workload;
    const bool          reads = w == READRANDOM || w == READMISSING || w == CONCURRENTREAD;
    if (!workload_is_dict(w) || spec.variant != BLINK || spec.type != ORDO_U32 || spec.value_bytes != 4 ||
        !(reads || w == CONCURRENTFILL || w == CONCURRENTINSERT || w == CONCURRENTERASE) || spec.count == 0)
        return {};
    const auto content = std::make_shared<Content>(spec);
    const auto state = std::make_shared<State>(*content, content->table.size() + (reads ? 0 : content->batch.size()));
    const Call prepare = reads ? Call() : [=] { state->tree.restore(); };
    return {
        { "MVGpuBTree's gpu_blink_tree", call_of(w, state),
          [=](char *) {
              thrust::fill(state->found.begin(), state->found.end(), 0u);
              (*state->tree).find(state->all.data().get(), state->found.data().get(), (uint32_t) state->all.size());
              std::vector<uint32_t> found(state->found.size());
              thrust::copy(state->found.begin(), state->found.end(), found.begin());
              return found == content->answers;
          },
          prepare }
    };
}

#else

std::vector<Peer> tree_peers(const struct spec &)
{
    return {};
}

#endif
