// SPDX-License-Identifier: Apache-2.0
// Longest prefix match: the smallest of nested networks that has an address. An X-fast trie holds the prefixes of all
// networks as keys, and finds the longest one of each address.
#include "example.hpp"

struct network {
    std::uint32_t address;
    int           length; // bits of the prefix
};
static const std::uint32_t nowhere = 0xffffffff;

static std::vector<network> random_networks(std::size_t count)
{
    std::vector<network> networks(count);
    for (std::size_t i = 0; i < count; i++) {
        const int length = static_cast<int>(8 + random_number(2, i) % 17);
        networks[i] = { static_cast<std::uint32_t>(random_number(1, i)) & ~(0xffffffffu >> length), length };
    }
    const auto before = [](const network &a, const network &b) {
        return a.address != b.address ? a.address < b.address : a.length < b.length;
    };
    std::sort(networks.begin(), networks.end(), before);
    const auto same = [](const network &a, const network &b) { return a.address == b.address && a.length == b.length; };
    networks.erase(std::unique(networks.begin(), networks.end(), same), networks.end());
    return networks;
}

static outcome longest_prefix(ordo_device *device, std::size_t addresses)
{
    const std::vector<network> networks = random_networks(100000);
    std::vector<std::uint32_t> address(addresses), belongs(addresses, nowhere), wanted(addresses, nowhere);
    for (std::size_t i = 0; i < addresses; i++)
        address[i] = static_cast<std::uint32_t>(random_number(3, i));

    std::vector<std::uint32_t> prefix, number; // keys, and their networks
    for (std::uint32_t i = 0; i < networks.size(); i++) {
        prefix.push_back(ordo_prefix_u32(networks[i].address, static_cast<unsigned>(networks[i].length)));
        number.push_back(i);
    }
    const dict_handle table = make_xfast(device, ORDO_U32, 4);
    must(ordo_dict_build_host(table.get(), prefix.data(), number.data(), prefix.size()));
    stopwatch clock;
    must(ordo_xfast_longest_prefix_host(table.get(), address.data(), addresses, nullptr, belongs.data(), nullptr));
    const double ordo_ms = clock.lap();

    plain::hash_map<std::uint64_t, std::uint32_t> of_prefix; // by length and prefix
    for (std::uint32_t i = 0; i < networks.size(); i++)
        of_prefix[std::uint64_t(networks[i].length) << 32 | networks[i].address] = i;
    clock.lap();
    for (std::size_t i = 0; i < addresses; i++)
        for (std::uint32_t length = 24; length >= 8 && wanted[i] == nowhere; length--) {
            const auto at = of_prefix.find(std::uint64_t(length) << 32 | (address[i] & ~(0xffffffffu >> length)));
            if (at != of_prefix.end())
                wanted[i] = at->second;
        }
    const double plain_ms = clock.lap();
    return { belongs == wanted, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "addresses in 100,000 networks", 100000, longest_prefix);
}
