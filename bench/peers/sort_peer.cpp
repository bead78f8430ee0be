/* SPDX-License-Identifier: Apache-2.0 */
#if BENCH_PARLAY
#include <parlay/primitives.h>
#include <parlay/slice.h>
#endif
#if BENCH_IPS2RA
#include <ips2ra.hpp>
#endif
#if BENCH_TBB
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>
#endif
#if BENCH_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif
#if BENCH_SIMDSORT
#include <x86simdsort.h>
#endif

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

extern "C" {
#include "bench/peers/sort_peer.h"
}

#if BENCH_PARLAY || BENCH_IPS2RA || BENCH_TBB
namespace {

class AnyRecords {
  public:
    virtual ~AnyRecords() = default;
    virtual void fill(const pairs &from) = 0;
    virtual void sort() = 0;
    virtual void read(const pairs &to) const = 0;
};

template <typename K, typename V> struct Record {
    K key;
    V value;
};
template <typename K> struct Record<K, void> {
    K key;
};

template <typename Sorter, typename K, typename V> class Records : public AnyRecords {
  public:
    Records(size_t count, int threads) : sorter_(threads), records_(count)
    {
    }

    void fill(const pairs &from) override
    {
        for (size_t i = 0; i < records_.size(); i++) {
            records_[i].key = static_cast<const K *>(from.keys)[i];
            if constexpr (!std::is_void_v<V>)
                records_[i].value = static_cast<const V *>(from.values)[i];
        }
    }

    void sort() override
    {
        sorter_.sort(records_);
    }

    void read(const pairs &to) const override
    {
        for (size_t i = 0; i < records_.size(); i++) {
            static_cast<K *>(to.keys)[i] = records_[i].key;
            if constexpr (!std::is_void_v<V>)
                static_cast<V *>(to.values)[i] = records_[i].value;
        }
    }

  private:
    Sorter                    sorter_;
    std::vector<Record<K, V>> records_;
};

template <typename Sorter, typename K> AnyRecords *records_of(size_t value_bytes, size_t count, int threads)
{
    if (value_bytes == 0)
        return new Records<Sorter, K, void>(count, threads);
    if (value_bytes == 4)
        return new Records<Sorter, K, uint32_t>(count, threads);
    return new Records<Sorter, K, uint64_t>(count, threads);
}

template <typename Sorter> void *records_open(size_t key_bytes, size_t value_bytes, size_t count, int threads)
{
    try {
        return key_bytes == 4 ? records_of<Sorter, uint32_t>(value_bytes, count, threads)
                              : records_of<Sorter, uint64_t>(value_bytes, count, threads);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void records_fill(void *records, pairs from)
{
    static_cast<AnyRecords *>(records)->fill(from);
}

void records_sort(void *records)
{
    static_cast<AnyRecords *>(records)->sort();
}

void records_read(const void *records, pairs to)
{
    static_cast<const AnyRecords *>(records)->read(to);
}

void records_close(void *records)
{
    delete static_cast<AnyRecords *>(records);
}

constexpr auto key_of = [](const auto &record) { return record.key; };

} // namespace
#endif

#if BENCH_PARLAY
namespace {

struct Parlay {
    parlay::internal::scheduler_type scheduler; /* of this thread while the object exists */

    explicit Parlay(int threads) : scheduler(size_t(threads))
    {
    }
    template <typename R> void sort(std::vector<R> &records) const
    {
        parlay::integer_sort_inplace(parlay::make_slice(records), key_of);
    }
};

} // namespace

const record_sort parlay_sort = { records_open<Parlay>, records_fill, records_sort, records_read, records_close };
#endif

#if BENCH_IPS2RA
namespace {

struct Ips2ra {
    int threads;

    explicit Ips2ra(int threads) : threads(threads)
    {
    }
    template <typename R> void sort(std::vector<R> &records) const
    {
        ips2ra::parallel::sort(records.begin(), records.end(), key_of, threads);
    }
};

} // namespace

const record_sort ips2ra_sort = { records_open<Ips2ra>, records_fill, records_sort, records_read, records_close };
#endif

#if BENCH_TBB
namespace {

struct Tbb {
    tbb::task_arena arena;

    explicit Tbb(int threads) : arena(threads)
    {
    }
    template <typename R> void sort(std::vector<R> &records)
    {
        arena.execute([&] {
            tbb::parallel_sort(records.begin(), records.end(), [](const R &a, const R &b) { return a.key < b.key; });
        });
    }
};

} // namespace

const record_sort tbb_sort = { records_open<Tbb>, records_fill, records_sort, records_read, records_close };
const char        tbb_version[] = "oneTBB " TBB_VERSION_STRING;
#endif

#if BENCH_HIGHWAY
#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

const char vqsort_version[] = "Highway " TEXT_OF(HWY_MAJOR) "." TEXT_OF(HWY_MINOR) "." TEXT_OF(HWY_PATCH);

void vqsort_pairs(pairs pairs, size_t key_bytes, size_t, size_t count)
{
    if (key_bytes == 4)
        hwy::VQSort(static_cast<uint32_t *>(pairs.keys), count, hwy::SortAscending());
    else
        hwy::VQSort(static_cast<uint64_t *>(pairs.keys), count, hwy::SortAscending());
}
#endif

#if BENCH_SIMDSORT
namespace {

template <typename K> void simdsort_keys(K *keys, void *values, size_t value_bytes, size_t count)
{
    if (value_bytes == 0)
        x86simdsort::qsort(keys, count);
    else if (value_bytes == 4)
        x86simdsort::keyvalue_qsort(keys, static_cast<uint32_t *>(values), count);
    else
        x86simdsort::keyvalue_qsort(keys, static_cast<uint64_t *>(values), count);
}

} // namespace

void simdsort_pairs(pairs pairs, size_t key_bytes, size_t value_bytes, size_t count)
{
    if (key_bytes == 4)
        simdsort_keys(static_cast<uint32_t *>(pairs.keys), pairs.values, value_bytes, count);
    else
        simdsort_keys(static_cast<uint64_t *>(pairs.keys), pairs.values, value_bytes, count);
}
#endif
