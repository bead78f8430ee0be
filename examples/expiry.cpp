// SPDX-License-Identifier: Apache-2.0
// Expiry: sessions arrive in batches, and one erase of a range of times removes old ones.
#include "example.hpp"

static outcome expiry(ordo_device *device, std::size_t sessions)
{
    const std::size_t          rounds = 16, batch = sessions / rounds;
    std::vector<std::uint64_t> began(2 * sessions); // a time above a number, because two sessions may begin at one time
    std::vector<std::uint32_t> user(2 * sessions);
    for (std::size_t i = 0; i < began.size(); i++) {
        began[i] = i / 10 << 32 | i;
        user[i] = static_cast<std::uint32_t>(random_number(1, i));
    }
    const std::uint64_t        dawn = 0;
    std::vector<std::uint64_t> limit(rounds); // the last time that is too old
    for (std::size_t r = 0; r < rounds; r++)
        limit[r] = began[(r + 1) * batch] - 1;

    const dict_handle live = make_lsm(device, ORDO_U64, 4);
    std::size_t       left = 0;
    must(ordo_dict_build_host(live.get(), began.data(), user.data(), rounds * batch));
    std::vector<std::uint32_t> gone(rounds);
    stopwatch                  clock;
    for (std::size_t r = 0; r < rounds; r++) {
        const std::size_t at = (rounds + r) * batch;
        must(ordo_dict_upsert_host(live.get(), &began[at], &user[at], batch));
        must(ordo_dict_erase_range_host(live.get(), &dawn, &limit[r], 1, &gone[r]));
    }
    must(ordo_dict_size(live.get(), nullptr, &left));
    const double ordo_ms = clock.lap();

    plain::map<std::uint64_t, std::uint32_t> tree;
    for (std::size_t i = 0; i < rounds * batch; i++)
        tree[began[i]] = user[i];
    std::vector<std::uint32_t> plain_gone(rounds);
    clock.lap();
    for (std::size_t r = 0; r < rounds; r++) {
        for (std::size_t i = (rounds + r) * batch; i < (rounds + r + 1) * batch; i++)
            tree[began[i]] = user[i];
        const std::size_t before = tree.size();
        tree.erase(tree.begin(), tree.upper_bound(limit[r]));
        plain_gone[r] = static_cast<std::uint32_t>(before - tree.size());
    }
    const double plain_ms = clock.lap();
    return { gone == plain_gone && left == tree.size(), ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "sessions, all replaced in 16 batches", 65536, expiry);
}
