// SPDX-License-Identifier: Apache-2.0
// Common code of the tasks: errors as exceptions, handles that close themselves, random numbers, a clock, and a main
// program that prints the time of a task with Ordo and with plain C++.
#pragma once
#include <ordo/ordo.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// Containers of plain C++: the standard's, or Abseil's, which are faster.
#ifdef EXAMPLES_WITH_ABSEIL
#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
namespace plain {
using absl::btree_map;
using absl::btree_multimap;
using absl::btree_set;
using absl::flat_hash_map;
using absl::flat_hash_set;
template <class K, class V> using map = btree_map<K, V>;
template <class K, class V> using multimap = btree_multimap<K, V>;
template <class K> using set = btree_set<K>;
template <class K, class V> using hash_map = flat_hash_map<K, V>;
template <class K> using hash_set = flat_hash_set<K>;
} // namespace plain
#else
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
namespace plain {
template <class K, class V> using map = std::map<K, V>;
template <class K, class V> using multimap = std::multimap<K, V>;
template <class K> using set = std::set<K>;
template <class K, class V> using hash_map = std::unordered_map<K, V>;
template <class K> using hash_set = std::unordered_set<K>;
} // namespace plain
#endif

// The device of the program, which keeps the message of the last failed call.
inline ordo_device *&the_device()
{
    static ordo_device *device = nullptr;
    return device;
}

inline void must(ordo_status status)
{
    if (status == ORDO_OK)
        return;
    char why[1000] = "";
    ordo_device_last_error(the_device(), why, sizeof why);
    throw std::runtime_error(*why ? why : ordo_status_string(status));
}

struct handle_closer {
    void operator()(ordo_device *device) const
    {
        ordo_device_close(&device);
    }
    void operator()(ordo_dict *dict) const
    {
        ordo_dict_destroy(&dict);
    }
};
using device_handle = std::unique_ptr<ordo_device, handle_closer>;
using dict_handle = std::unique_ptr<ordo_dict, handle_closer>;

inline device_handle open_device()
{
    char               why[1000] = "";
    ordo_device_config config = {};
    config.message = why;
    config.message_bytes = sizeof why;
    if (ordo_device_open(&config, &the_device()) != ORDO_OK) // the first GPU, else a CPU
        throw std::runtime_error(why);
    return device_handle(the_device());
}

// Creates an empty dictionary.
template <class Config>
dict_handle make_dict(ordo_status (*create)(ordo_device *, const Config *, ordo_dict **), ordo_device *device,
                      ordo_type key, std::uint32_t value_bytes)
{
    Config     config = {};
    ordo_dict *dict = nullptr;
    config.dict.key = key;
    config.dict.value_bytes = value_bytes;
    must(create(device, &config, &dict));
    return dict_handle(dict);
}
inline dict_handle make_lsm(ordo_device *device, ordo_type key, std::uint32_t value_bytes)
{
    return make_dict(ordo_lsm_create, device, key, value_bytes);
}
inline dict_handle make_tree(ordo_device *device, ordo_type key, std::uint32_t value_bytes)
{
    return make_dict(ordo_blink_create, device, key, value_bytes);
}
inline dict_handle make_xfast(ordo_device *device, ordo_type key, std::uint32_t value_bytes)
{
    return make_dict(ordo_xfast_create, device, key, value_bytes);
}
inline dict_handle make_sorted_array(ordo_device *device, ordo_type key, std::uint32_t value_bytes)
{
    return make_dict(ordo_sorted_array_create, device, key, value_bytes);
}

// The i-th random number of a stream.
inline std::uint64_t random_number(std::uint64_t stream, std::uint64_t i)
{
    std::uint64_t x = stream * 0x9e3779b97f4a7c15u + (i + 1) * 0xd1342543de82ef95u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

class stopwatch {
  public:
    // Returns milliseconds since construction or the last call.
    double lap()
    {
        const auto   now = std::chrono::steady_clock::now();
        const double ms = std::chrono::duration<double, std::milli>(now - start_).count();
        start_ = now;
        return ms;
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct outcome {
    bool   right; // both gave the same results
    double ordo_ms, plain_ms;
};

inline double median(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// PROGRAM [COUNT [TIMES]]: runs the task TIMES times on COUNT items, and prints medians.
inline int run_task(int argc, char **argv, const char *items, std::size_t usual_count,
                    outcome (*task)(ordo_device *, std::size_t))
{
    try {
        const std::size_t   count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual_count;
        const int           times = argc > 2 ? std::atoi(argv[2]) : 1;
        const device_handle device = open_device();
        bool                right = task(device.get(), count).right; // builds the kernels
        std::vector<double> ordo_ms, plain_ms;
        do {
            const outcome got = task(device.get(), count);
            right = right && got.right;
            ordo_ms.push_back(got.ordo_ms);
            plain_ms.push_back(got.plain_ms);
        } while (static_cast<int>(ordo_ms.size()) < times);
        std::printf("%zu %s: %.2f ms, plain C++ %.2f ms: %s\n", count, items, median(ordo_ms), median(plain_ms),
                    right ? "the same results" : "DIFFERENT RESULTS");
        return right ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return EXIT_FAILURE;
    }
}
