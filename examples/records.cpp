// SPDX-License-Identifier: Apache-2.0
// Values of more than 16 bytes: a dictionary maps each account to the row of its record. Prints statements for some
// accounts.
#include "example.hpp"

#include <cstring>

namespace {

struct record {
    std::uint64_t account;
    std::int64_t  cents;
    char          name[32];
};

record record_of(std::uint64_t account, std::size_t i)
{
    record r = {};
    r.account = account;
    r.cents = static_cast<std::int64_t>(random_number(3, i) % 2000000) - 1000000;
    std::snprintf(r.name, sizeof r.name, "customer %zu", i);
    return r;
}

bool are_same(const std::vector<record> &a, const std::vector<record> &b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

outcome statements(ordo_device *device, std::size_t count)
{
    std::vector<std::uint64_t> accounts(count), asked(count);
    std::vector<std::uint32_t> rows(count);
    std::vector<record>        records(count);
    for (std::size_t i = 0; i < count; i++) {
        accounts[i] = random_number(1, i);
        rows[i] = static_cast<std::uint32_t>(i);
        records[i] = record_of(accounts[i], i);
    }
    for (std::size_t i = 0; i < count; i++) // one of eight is unknown
        asked[i] = i % 8 ? accounts[random_number(2, i) % count] : random_number(4, i);

    std::vector<record>        found(count), wanted(count);
    std::vector<std::uint32_t> at(count, UINT32_MAX); // stays where an account is unknown, so that its record does too
    ordo_gather_params         gather = {};
    gather.row_bytes = sizeof(record);
    stopwatch         clock;
    const dict_handle table = make_dict(ordo_hash_create, device, ORDO_U64, sizeof rows[0]);
    must(ordo_dict_build_host(table.get(), accounts.data(), rows.data(), count));
    must(ordo_dict_find_host(table.get(), asked.data(), count, at.data(), nullptr));
    must(ordo_gather_host(device, &gather, records.data(), count, at.data(), count, found.data()));
    const double ordo_ms = clock.lap();

    plain::hash_map<std::uint64_t, record> map;
    map.reserve(count);
    for (std::size_t i = 0; i < count; i++)
        map[accounts[i]] = records[i];
    for (std::size_t i = 0; i < count; i++) {
        const auto it = map.find(asked[i]);
        if (it != map.end())
            wanted[i] = it->second;
    }
    const double plain_ms = clock.lap();
    return { are_same(found, wanted), ordo_ms, plain_ms };
}

} // namespace

int main(int argc, char **argv)
{
    return run_task(argc, argv, "statements", 100000, statements);
}
