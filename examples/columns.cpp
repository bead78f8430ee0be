// SPDX-License-Identifier: Apache-2.0
// Keys of several columns: sales (store, price, second) sorted by store, then by price from high to low, then by time.
// The example also sums the prices, in cents, for each store and day.
#include "example.hpp"

#include <tuple>

struct sales {
    std::vector<std::uint32_t> store; // below 2^10
    std::vector<float>         price;
    std::vector<std::uint64_t> second; // below 2^22
    std::vector<std::uint32_t> day, cents;
};

static sales make_sales(std::size_t rows)
{
    sales s = { std::vector<std::uint32_t>(rows), std::vector<float>(rows), std::vector<std::uint64_t>(rows),
                std::vector<std::uint32_t>(rows), std::vector<std::uint32_t>(rows) };
    for (std::size_t i = 0; i < rows; i++) {
        s.store[i] = static_cast<std::uint32_t>(random_number(1, i) % 200);
        s.cents[i] = static_cast<std::uint32_t>(random_number(2, i) % 10000);
        s.price[i] = static_cast<float>(s.cents[i]) / 100;
        s.second[i] = random_number(3, i) % (40 * 86400);
        s.day[i] = static_cast<std::uint32_t>(s.second[i] / 86400);
    }
    return s;
}

static ordo_key_field field_of(ordo_type type, std::uint32_t bits, bool descending = false)
{
    ordo_key_field field = {};
    field.type = type;
    field.bits = bits;
    field.descending = descending;
    return field;
}

// Sorts all columns. The keys hold whole rows, so no other column must be moved.
static void sort_rows(ordo_device *device, const sales &from, sales &to)
{
    const ordo_key_field fields[] = { field_of(ORDO_U32, 10), field_of(ORDO_F32, 0, true), field_of(ORDO_U64, 22) };
    const void *const    columns[] = { from.store.data(), from.price.data(), from.second.data() };
    void *const          columns_out[] = { to.store.data(), to.price.data(), to.second.data() };
    const std::size_t    rows = from.store.size();
    std::vector<std::uint64_t> keys(rows);
    ordo_key_layout            layout = {};
    must(ordo_key_plan(device, fields, 3, &layout)); // ORDO_U64: 64 bits
    must(ordo_key_pack_host(device, fields, 3, columns, nullptr, rows, keys.data(), nullptr));
    ordo_sort_params params = {};
    params.key = layout.key;
    must(ordo_sort_host(device, &params, keys.data(), nullptr, rows));
    must(ordo_key_unpack_host(device, fields, 3, keys.data(), rows, columns_out, nullptr));
}

struct turnover {
    std::vector<std::uint32_t> store, day;
    std::vector<std::uint64_t> cents;
    std::uint32_t              groups = 0;
};

// Groups by store and day. Their 16 bits fit in keys of 32 bits.
static turnover group_rows(ordo_device *device, const sales &from)
{
    const ordo_key_field       fields[] = { field_of(ORDO_U32, 10), field_of(ORDO_U32, 6) };
    const void *const          columns[] = { from.store.data(), from.day.data() };
    const std::size_t          rows = from.store.size(), most = 200 * 40;
    std::vector<std::uint32_t> keys(rows), group(most);
    turnover                   t;
    ordo_key_layout            layout = {};
    t.store.resize(most);
    t.day.resize(most);
    t.cents.resize(most);
    must(ordo_key_plan(device, fields, 2, &layout)); // ORDO_U32: 16 bits
    must(ordo_key_pack_host(device, fields, 2, columns, nullptr, rows, keys.data(), nullptr));
    ordo_reduce_by_key_params params = {};
    params.key = layout.key;
    params.bits = layout.bits;
    params.value = ORDO_U32;
    params.wide = true;
    must(ordo_reduce_by_key_host(device, &params, keys.data(), from.cents.data(), rows, group.data(), t.cents.data(),
                                 nullptr, most, &t.groups));
    void *const columns_out[] = { t.store.data(), t.day.data() };
    must(ordo_key_unpack_host(device, fields, 2, group.data(), t.groups, columns_out, nullptr));
    return t;
}

using row = std::tuple<std::uint32_t, float, std::uint64_t>;

static std::vector<row> sort_plainly(const sales &from)
{
    std::vector<row> rows;
    for (std::size_t i = 0; i < from.store.size(); i++)
        rows.emplace_back(from.store[i], -from.price[i], from.second[i]);
    std::sort(rows.begin(), rows.end());
    return rows;
}

static plain::hash_map<std::uint64_t, std::uint64_t> group_plainly(const sales &from)
{
    plain::hash_map<std::uint64_t, std::uint64_t> sums;
    for (std::size_t i = 0; i < from.store.size(); i++)
        sums[std::uint64_t(from.store[i]) << 32 | from.day[i]] += from.cents[i];
    return sums;
}

static outcome columns(ordo_device *device, std::size_t rows)
{
    const sales from = make_sales(rows);
    sales       to = make_sales(rows);
    stopwatch   clock;
    sort_rows(device, from, to);
    const turnover t = group_rows(device, from);
    const double   ordo_ms = clock.lap();

    const auto   sorted = sort_plainly(from);
    const auto   sums = group_plainly(from);
    const double plain_ms = clock.lap();

    bool right = t.groups == sums.size();
    for (std::size_t i = 0; i < rows && right; i++)
        right = sorted[i] == row(to.store[i], -to.price[i], to.second[i]);
    for (std::size_t g = 0; g < t.groups && right; g++) {
        const auto found = sums.find(std::uint64_t(t.store[g]) << 32 | t.day[g]);
        right = found != sums.end() && found->second == t.cents[g];
    }
    return { right, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "rows", 100000, columns);
}
