// SPDX-License-Identifier: Apache-2.0
// Deduplication: hashes of data blocks arrive in batches. Which are new?
#include "example.hpp"

static outcome deduplicate(ordo_device *device, std::size_t blocks)
{
    std::vector<std::uint64_t> hash(blocks);
    for (std::size_t i = 0; i < blocks; i++)
        hash[i] = random_number(2, random_number(1, i) % blocks); // most occur once or twice, some never

    const std::size_t         batch = blocks / 16 + 1;
    std::vector<std::uint8_t> is_new(blocks), wanted(blocks);
    stopwatch                 clock;
    const dict_handle         seen = make_lsm(device, ORDO_U64, 0);
    for (std::size_t at = 0; at < blocks; at += batch)
        must(ordo_dict_insert_host(seen.get(), &hash[at], nullptr, std::min(batch, blocks - at), &is_new[at]));
    const double ordo_ms = clock.lap();

    plain::hash_set<std::uint64_t> set;
    for (std::size_t i = 0; i < blocks; i++)
        wanted[i] = set.insert(hash[i]).second;
    const double plain_ms = clock.lap();
    return { is_new == wanted, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "hashes", 100000, deduplicate);
}
