// SPDX-License-Identifier: Apache-2.0
// Order book, one side: orders to buy arrive in batches, and each adds its quantity to a price. After each batch the
// task reads the best five prices and their quantities, and removes the best one.
#include "example.hpp"

static outcome order_book(ordo_device *device, std::size_t orders)
{
    const std::size_t          rounds = 64, batch = orders / rounds, depth = 5;
    std::vector<std::uint32_t> price(orders), quantity(orders);
    for (std::size_t i = 0; i < orders; i++) {
        price[i] = static_cast<std::uint32_t>(1000000 + random_number(1, i) % 50000);
        quantity[i] = static_cast<std::uint32_t>(1 + random_number(2, i) % 100);
    }

    std::vector<std::uint32_t> best(rounds * depth), there(rounds * depth), wanted(rounds * depth), plain_there(wanted);
    stopwatch                  clock;
    const dict_handle          book = make_sorted_array(device, ORDO_U32, 4);
    for (std::size_t r = 0; r < rounds; r++) {
        const std::size_t at = r * batch, top = r * depth;
        std::size_t       got = 0;
        must(ordo_dict_combine_host(book.get(), ORDO_U32, ORDO_SUM, &price[at], &quantity[at], batch));
        must(ordo_dict_peek_last_host(book.get(), depth, &best[top], &there[top], &got));
        must(ordo_dict_take_last_host(book.get(), 1, nullptr, nullptr, &got));
    }
    const double ordo_ms = clock.lap();

    plain::map<std::uint32_t, std::uint32_t> tree;
    for (std::size_t r = 0; r < rounds; r++) {
        for (std::size_t i = r * batch; i < (r + 1) * batch; i++)
            tree[price[i]] += quantity[i];
        std::size_t to = r * depth;
        for (auto level = tree.rbegin(); level != tree.rend() && to < (r + 1) * depth; ++level, to++) {
            wanted[to] = level->first;
            plain_there[to] = level->second;
        }
        if (!tree.empty())
            tree.erase(wanted[r * depth]);
    }
    const double plain_ms = clock.lap();
    return { best == wanted && there == plain_there, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "orders in 64 batches", 65536, order_book);
}
