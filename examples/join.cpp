// SPDX-License-Identifier: Apache-2.0
// Join: all pairs of an order and a payment of one customer, who may have several of each.
#include "example.hpp"

#include <numeric>

struct pair_of_rows {
    std::uint32_t order, payment;
    bool          operator==(const pair_of_rows &other) const
    {
        return order == other.order && payment == other.payment;
    }
};

static outcome join(ordo_device *device, std::size_t rows)
{
    std::vector<std::uint64_t> orders(rows), payments(rows); // customers
    for (std::size_t i = 0; i < rows; i++) {
        orders[i] = random_number(1, i) % rows;
        payments[i] = random_number(2, i) % rows;
    }

    // Sorts one side with its row numbers, and searches both bounds of each row of the other side.
    stopwatch                  clock;
    std::vector<pair_of_rows>  joined;
    std::vector<std::uint64_t> sorted = payments;
    std::vector<std::uint32_t> row(rows), lower(rows), upper(rows);
    ordo_sort_params           sort = {};
    sort.key = ORDO_U64;
    sort.value_bytes = 4;
    ordo_equal_range_params search = {};
    search.key = ORDO_U64;
    std::iota(row.begin(), row.end(), 0u);
    must(ordo_sort_host(device, &sort, sorted.data(), row.data(), rows));
    must(ordo_equal_range_host(device, &search, sorted.data(), rows, orders.data(), rows, lower.data(), upper.data()));
    joined.reserve(2 * rows);
    for (std::uint32_t i = 0; i < rows; i++)
        for (std::uint32_t k = lower[i]; k < upper[i]; k++)
            joined.push_back({ i, row[k] }); // the sort is stable, so payments of a customer keep their order
    const double ordo_ms = clock.lap();

    plain::hash_map<std::uint64_t, std::vector<std::uint32_t>> payments_of;
    std::vector<pair_of_rows>                                  wanted;
    for (std::uint32_t i = 0; i < rows; i++)
        payments_of[payments[i]].push_back(i);
    for (std::uint32_t i = 0; i < rows; i++) {
        const auto at = payments_of.find(orders[i]);
        if (at != payments_of.end())
            for (const std::uint32_t payment : at->second)
                wanted.push_back({ i, payment });
    }
    const double plain_ms = clock.lap();
    return { joined == wanted, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "orders and as many payments", 50000, join);
}
