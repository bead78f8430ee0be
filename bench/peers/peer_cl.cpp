/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-peer-cl: Boost.Compute, and VexCL if it is built in (peer_vexcl.cpp), on the workloads of ordo-bench, with the
 * same OpenCL device, inputs, checks and batches. ordo-bench --peers runs it. It prints a line of JSON per size and
 * library, none for other workloads. The libraries allocate temporary storage in each call. */
#include "peer_cl.hpp"

#include <boost/compute/algorithm/exclusive_scan.hpp>
#include <boost/compute/algorithm/gather.hpp>
#include <boost/compute/algorithm/merge.hpp>
#include <boost/compute/algorithm/reduce.hpp>
#include <boost/compute/algorithm/reduce_by_key.hpp>
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/algorithm/stable_sort_by_key.hpp>
#include <boost/compute/function.hpp>
#include <boost/compute/iterator/buffer_iterator.hpp>
#include <boost/compute/iterator/constant_iterator.hpp>
#include <boost/compute/system.hpp>
#include <boost/version.hpp>

#include <chrono>

Arrays::Arrays(const compute::command_queue &queue, const struct spec &spec, const struct inputs &in)
    : queue(queue), count(spec.count), key(spec.workload == GATHER ? spec_row_bytes(&spec) : type_bytes(spec.type)),
      value(spec.value_bytes), keys(array(count * (in.rows ? 4 : key), in.keys)),
      values(array(count * value, in.values)), rows(array(in.rows ? count * key : 0, in.rows)),
      keys_out(array(count * key)), values_out(array(count * value)),
      counts(array(spec.workload == GROUPBY ? count * 4 : 0)), total(array(8)),
      keys_spare(array(spec.workload == GROUPBY ? count * key : 0)),
      values_spare(array(spec.workload == GROUPBY ? count * value : 0))
{
}

compute::buffer Arrays::array(size_t bytes, const void *from) const
{
    compute::buffer                  buffer(queue.get_context(), bytes ? bytes : 1);
    const std::vector<unsigned char> poison(from ? 0 : bytes, POISON_BYTE);
    if (bytes)
        compute::command_queue(queue).enqueue_write_buffer(buffer, 0, bytes, from ? from : poison.data());
    return buffer;
}

void Arrays::copy(const compute::buffer &keys_to, const compute::buffer &values_to)
{
    queue.enqueue_copy_buffer(keys, keys_to, 0, 0, count * key);
    if (value)
        queue.enqueue_copy_buffer(values, values_to, 0, 0, count * value);
}

/* ---- Boost.Compute -------------------------------------------------------------------------------------------- */

template <typename T> static compute::buffer_iterator<T> from(const compute::buffer &buffer, size_t at = 0)
{
    return compute::make_buffer_iterator<T>(buffer, at);
}

/* The order of Ordo, in which NaNs and zeros have places. */
BOOST_COMPUTE_FUNCTION(bool, float_before, (float a, float b), {
    const int x = as_int(a), y = as_int(b);
    return (x ^ (x >> 31 & 0x7fffffff)) < (y ^ (y >> 31 & 0x7fffffff));
});

/* Sorts in place. On GPUs it is a radix sort of the bits, which needs compute::less. */
template <typename K, typename V>
static void sort(Arrays &a, const compute::buffer &keys, const compute::buffer &values)
{
    const auto by = [&](auto before) {
        const auto first = from<K>(keys), last = first + (ptrdiff_t) a.count;
        if constexpr (std::is_void_v<V>)
            compute::sort(first, last, before, a.queue);
        else
            compute::stable_sort_by_key(first, last, from<V>(values), before, a.queue);
    };
    if constexpr (std::is_same_v<K, float>)
        if (!(a.queue.get_device().type() & compute::device::gpu))
            return by(float_before);
    by(compute::less<K>());
}

/* One call for sums, one for counts, and a sort for unsorted keys. */
template <typename K, typename V> static Work groups(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    const bool is_sorted = spec.variant == 1;
    const Call call = [=] {
        const auto keys = from<K>(is_sorted ? a->keys : a->keys_spare), end = keys + (ptrdiff_t) a->count;
        if (!is_sorted)
            sort<K, V>(*a, a->keys_spare, a->values_spare);
        if constexpr (!std::is_void_v<V>)
            compute::reduce_by_key(keys, end, from<V>(is_sorted ? a->values : a->values_spare), from<K>(a->keys_out),
                                   from<V>(a->values_out), compute::plus<V>(), a->queue);
        const auto ones = compute::make_constant_iterator<uint32_t>(1, 0);
        const auto ends = compute::reduce_by_key(keys, end, ones, from<K>(a->keys_out), from<uint32_t>(a->counts),
                                                 compute::plus<uint32_t>(), a->queue);
        a->groups = (uint32_t) (ends.first - from<K>(a->keys_out));
    };
    return { "boost::compute: sort if unsorted, reduce_by_key", call,
             is_sorted ? Call() : [=] { a->copy(a->keys_spare, a->values_spare); } };
}

template <typename K, typename V>
static std::vector<Work> boost_pairs(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    if (spec.workload == SORT)
        return { { std::is_void_v<V> ? "boost::compute::sort" : "boost::compute::stable_sort_by_key",
                   [=] { sort<K, V>(*a, a->keys_out, a->values_out); },
                   [=] { a->copy(a->keys_out, a->values_out); } } };
    if constexpr (!std::is_same_v<K, float>)
        if (spec.workload == GROUPBY)
            return { groups<K, V>(spec, a) };
    return {};
}

template <typename Row> static Work gather(const std::shared_ptr<Arrays> &a)
{
    return { "boost::compute::gather", [=] {
                const auto index = from<uint32_t>(a->keys);
                compute::gather(index, index + (ptrdiff_t) a->count, from<Row>(a->rows), from<Row>(a->keys_out),
                                a->queue);
            } };
}

template <typename K> static std::vector<Work> boost_keys(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    const auto first = from<K>(a->keys), last = first + (ptrdiff_t) a->count, out = from<K>(a->keys_out);
    const auto middle = first + (ptrdiff_t) (a->count / 2);
    if constexpr (!std::is_same_v<K, float>) { /* NaNs have no place in sums, maxima and merges */
        if (spec.workload == SCAN)
            return { { "boost::compute::exclusive_scan",
                       [=] { compute::exclusive_scan(first, last, out, K(0), compute::plus<K>(), a->queue); } } };
        if (spec.workload == REDUCE)
            return { { "boost::compute::reduce",
                       [=] { compute::reduce(first, last, from<K>(a->total), compute::plus<K>(), a->queue); } } };
        if (spec.workload == MERGE && spec.value_bytes == 0)
            return { { "boost::compute::merge",
                       [=] { compute::merge(first, middle, middle, last, out, compute::less<K>(), a->queue); } } };
    }
    return spec.value_bytes == 4   ? boost_pairs<K, uint32_t>(spec, a)
           : spec.value_bytes == 8 ? boost_pairs<K, uint64_t>(spec, a)
                                   : boost_pairs<K, void>(spec, a);
}

static std::vector<Work> boost_works(const struct spec &spec, const std::shared_ptr<Arrays> &a)
{
    if (spec.workload == GATHER)
        return { a->key == 4    ? gather<uint32_t>(a)
                 : a->key == 16 ? gather<compute::uint4_>(a)
                                : gather<compute::uint16_>(a) };
    return spec.type == ORDO_U32   ? boost_keys<uint32_t>(spec, a)
           : spec.type == ORDO_U64 ? boost_keys<uint64_t>(spec, a)
                                   : boost_keys<float>(spec, a);
}

/* ---- the program ---------------------------------------------------------------------------------------------- */

static bool check(const struct spec &spec, const struct inputs &in, Arrays &a, char *why)
{
    const auto read = [&](const compute::buffer &buffer) {
        std::vector<unsigned char> host(buffer.size());
        a.queue.enqueue_read_buffer(buffer, 0, host.size(), host.data());
        return host;
    };
    const auto    keys = read(a.keys_out), values = read(a.values_out), counts = read(a.counts), total = read(a.total);
    struct answer answer = {};
    answer.keys = keys.data();
    answer.values = values.data();
    answer.counts = reinterpret_cast<const uint32_t *>(counts.data());
    answer.total = total.data();
    answer.kept = a.groups;
    return answer_check(&spec, &in, &answer, false, why);
}

static void run_rows(const compute::command_queue &queue, const struct spec &spec, double seconds,
                     const std::string &more)
{
    using Clock = std::chrono::steady_clock;
    const auto wait = [&] { compute::command_queue(queue).finish(); };
    const auto time = [&](const Call &call, int n) {
        const auto before = Clock::now();
        for (int i = 0; i < n; i++)
            call();
        wait();
        const std::chrono::duration<double> wall = Clock::now() - before;
        return Times { wall.count() / n, 0, 0 };
    };
    const Clocks clocks = { wait, time };
    const size_t bytes =
        type_bytes(spec.type) + spec.value_bytes + (spec.workload == GATHER ? spec_row_bytes(&spec) : 0);
    if (spec.count == 0 || spec.count * bytes * 5 > queue.get_device().global_memory_size())
        return;
    const auto in = make_inputs(spec);
    for (const auto &library : { boost_works, vexcl_works }) { /* each with new outputs */
        const auto a = std::make_shared<Arrays>(queue, spec, *in);
        for (const Work &work : library(spec, a)) {
            const auto is_right = [&](char *why) {
                if (work.finish)
                    work.finish();
                return check(spec, *in, *a, why);
            };
            run_peer(clocks, spec, { work.name, work.call, is_right, work.prepare }, seconds / 2, more);
        }
    }
}

static compute::device choose_device(const Question &q)
{
    const auto platforms = compute::system::platforms();
    if (q.platform < platforms.size()) {
        const auto devices = platforms[q.platform].devices();
        if (q.device < devices.size() && devices[q.device].name() == q.device_name)
            return devices[q.device];
    }
    throw std::runtime_error("OpenCL device " + std::to_string(q.platform) + ":" + std::to_string(q.device) +
                             " is not called '" + q.device_name + "' here");
}

int main(int argc, char **argv)
try {
    Question              q = read_question(argc, argv);
    const compute::device device = choose_device(q);
    if (q.spec.type != ORDO_U32 && q.spec.type != ORDO_U64 && q.spec.type != ORDO_F32)
        return 0;
    const compute::context       context(device);
    const compute::command_queue queue(context, device);
    const std::string            more = "\"device\": \"" + device.name() + "\", \"driver\": \"" +
                             device.get_info<std::string>(CL_DRIVER_VERSION) +
                             "\", \"boost\": \"" BOOST_LIB_VERSION "\"" + vexcl_version;
    for (const size_t count : q.counts) {
        q.spec.count = count;
        run_rows(queue, q.spec, q.seconds, more);
    }
    return 0;
} catch (const std::exception &error) {
    fprintf(stderr, "ordo-peer-cl: %s\n", error.what());
    return 1;
}
