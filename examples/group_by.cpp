// SPDX-License-Identifier: Apache-2.0
// Group-by: rows of (customer, amount) in any order; for each customer the sum and number of amounts.
#include "example.hpp"

static outcome group_by(ordo_device *device, std::size_t rows)
{
    const std::size_t          customers = rows / 40 + 1;
    std::vector<std::uint32_t> customer(rows), amount(rows);
    for (std::size_t i = 0; i < rows; i++) {
        customer[i] = static_cast<std::uint32_t>(random_number(1, i) % customers);
        amount[i] = static_cast<std::uint32_t>(random_number(2, i) % 10000);
    }

    std::vector<std::uint32_t> who(customers), orders(customers);
    std::vector<std::uint64_t> total(customers);
    std::uint32_t              groups = 0;
    stopwatch                  clock;
    ordo_reduce_by_key_params  params = {};
    params.key = ORDO_U32;
    params.value = ORDO_U32;
    params.op = ORDO_SUM;
    params.wide = true; // 64-bit sums
    must(ordo_reduce_by_key_host(device, &params, customer.data(), amount.data(), rows, who.data(), total.data(),
                                 orders.data(), customers, &groups));
    const double ordo_ms = clock.lap();

    struct account {
        std::uint64_t total;
        std::uint32_t orders;
    };
    plain::hash_map<std::uint32_t, account> accounts;
    for (std::size_t i = 0; i < rows; i++) {
        account &a = accounts[customer[i]];
        a.total += amount[i];
        a.orders++;
    }
    const double plain_ms = clock.lap();

    bool right = groups == accounts.size();
    for (std::uint32_t g = 0; g < groups && right; g++) {
        const account &a = accounts[who[g]];
        right = a.total == total[g] && a.orders == orders[g];
    }
    return { right, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "rows", 100000, group_by);
}
