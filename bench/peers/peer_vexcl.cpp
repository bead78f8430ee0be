/* SPDX-License-Identifier: Apache-2.0 */
#include "peer_cl.hpp"

#if PEER_VEXCL
#define VEXCL_BACKEND_COMPUTE
#include <vexcl/devlist.hpp>
#include <vexcl/reduce_by_key.hpp>
#include <vexcl/reductor.hpp>
#include <vexcl/scan.hpp>
#include <vexcl/sort.hpp>
#include <vexcl/vector.hpp>
#include <vexcl/vector_view.hpp>

#include <type_traits>

const char *const vexcl_version = ", \"vexcl\": \"a checkout\"";

template <typename T> static vex::vector<T> vector_of(const Arrays &a, const compute::buffer &buffer)
{
    return vex::vector<T>(a.queue, vex::backend::device_vector<T>(buffer), a.count);
}

template <typename K, typename V>
static void sort(const Arrays &a, const compute::buffer &of_keys, const compute::buffer &of_values)
{
    vex::vector<K> keys = vector_of<K>(a, of_keys);
    if constexpr (std::is_void_v<V>) {
        vex::sort(keys);
    } else {
        vex::vector<V> values = vector_of<V>(a, of_values);
        vex::sort_by_key(keys, values);
    }
}

/* One call for sums, one for counts, which needs an array of ones, and a sort for unsorted keys. */
template <typename K, typename V> static Work groups(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    const bool is_sorted = spec.variant == 1;
    struct Groups {
        vex::vector<K>                                                  keys;
        vex::vector<uint32_t>                                           ones, counts;
        vex::vector<std::conditional_t<std::is_void_v<V>, uint32_t, V>> sums;
    };
    const auto g = std::make_shared<Groups>();
    g->ones = vex::vector<uint32_t>({ a->queue }, a->count);
    g->ones = 1u;
    const Call call = [=] {
        const auto keys = vector_of<K>(*a, is_sorted ? a->keys : a->keys_spare);
        if (!is_sorted)
            sort<K, V>(*a, a->keys_spare, a->values_spare);
        if constexpr (!std::is_void_v<V>)
            vex::reduce_by_key(keys, vector_of<V>(*a, is_sorted ? a->values : a->values_spare), g->keys, g->sums);
        a->groups = (uint32_t) vex::reduce_by_key(keys, g->ones, g->keys, g->counts);
    };
    const Call finish = [=] {
        a->queue.enqueue_copy_buffer(g->keys(0).raw_buffer(), a->keys_out, 0, 0, a->groups * sizeof(K));
        a->queue.enqueue_copy_buffer(g->counts(0).raw_buffer(), a->counts, 0, 0, a->groups * 4);
        if constexpr (!std::is_void_v<V>)
            a->queue.enqueue_copy_buffer(g->sums(0).raw_buffer(), a->values_out, 0, 0, a->groups * sizeof(V));
    };
    return { "vex: sort if unsorted, reduce_by_key", call,
             is_sorted ? Call() : [=] { a->copy(a->keys_spare, a->values_spare); }, finish };
}

template <typename K, typename V>
static std::vector<Work> works_of_pairs(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    if (spec.workload == SORT)
        return { { std::is_void_v<V> ? "vex::sort" : "vex::sort_by_key",
                   [=] { sort<K, V>(*a, a->keys_out, a->values_out); },
                   [=] { a->copy(a->keys_out, a->values_out); } } };
    if (spec.workload == GROUPBY)
        return { groups<K, V>(spec, a) };
    return {};
}

template <typename K> static std::vector<Work> works_of_keys(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    using Sum = vex::Reductor<K, vex::SUM>;
    if (spec.workload == SCAN)
        return { { "vex::exclusive_scan", [=] {
                      vex::vector<K> out = vector_of<K>(*a, a->keys_out);
                      vex::exclusive_scan(vector_of<K>(*a, a->keys), out);
                  } } };
    if (spec.workload == REDUCE) {
        const auto sum = std::make_shared<Sum>(std::vector<compute::command_queue> { a->queue });
        const auto total = std::make_shared<K>();
        return { { "vex::Reductor",
                   [=] { *total = (*sum)(vector_of<K>(*a, a->keys)); },
                   {},
                   [=] { a->queue.enqueue_write_buffer(a->total, 0, sizeof(K), total.get()); } } };
    }
    return spec.value_bytes == 4   ? works_of_pairs<K, uint32_t>(spec, a)
           : spec.value_bytes == 8 ? works_of_pairs<K, uint64_t>(spec, a)
                                   : works_of_pairs<K, void>(spec, a);
}

std::vector<Work> vexcl_works(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    static const vex::Context context({ a->queue.get_context() }, { a->queue });
    if (spec.workload == GATHER && a->key == 4)
        return { { "vex::permutation", [=] {
                      vex::vector<uint32_t> index = vector_of<uint32_t>(*a, a->keys);
                      vex::vector<uint32_t> rows = vector_of<uint32_t>(*a, a->rows);
                      vex::vector<uint32_t> out = vector_of<uint32_t>(*a, a->keys_out);
                      out = vex::permutation(index)(rows);
                  } } };
    if (spec.workload == GATHER || spec.type == ORDO_F32) /* its order of floats has no place for NaNs */
        return {};
    return spec.type == ORDO_U32 ? works_of_keys<uint32_t>(spec, a) : works_of_keys<uint64_t>(spec, a);
}

#else

const char *const vexcl_version = "";

std::vector<Work> vexcl_works(const struct spec &, const std::shared_ptr<Arrays> &)
{
    return {};
}

#endif
