// SPDX-License-Identifier: Apache-2.0
// Longest prefix match: to which network does an address belong, if networks lie within networks? The networks are laid out
// once as intervals side by side, each with the innermost network that it is of; an address then is one seek.
#include "example.hpp"

struct network {
    std::uint32_t address;
    int           length; // bits of the prefix
    std::uint64_t end() const
    {
        return address + (std::uint64_t(1) << (32 - length));
    }
};
static const std::uint32_t nowhere = 0xffffffff;

struct layout {
    std::vector<std::uint32_t> begin, number; // where an interval begins, and which network it is of

    void put(std::uint64_t at, std::uint32_t of)
    {
        if (at > 0xffffffff)
            return;
        if (begin.empty() || begin.back() != at) {
            begin.push_back(static_cast<std::uint32_t>(at));
            number.push_back(of);
        }
        number.back() = of;
    }
};

// Networks in order of addresses, an outer one before those in it.
static layout lay_out(const std::vector<network> &networks)
{
    layout                     out;
    std::vector<std::uint32_t> open; // those that are not yet at their end, the innermost last
    const auto                 close = [&](std::uint64_t until) {
        while (!open.empty() && networks[open.back()].end() <= until) {
            const std::uint64_t end = networks[open.back()].end();
            open.pop_back();
            out.put(end, open.empty() ? nowhere : open.back());
        }
    };
    for (std::uint32_t i = 0; i < networks.size(); i++) {
        close(networks[i].address);
        open.push_back(i);
        out.put(networks[i].address, i);
    }
    close(std::uint64_t(1) << 32);
    return out;
}

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

    const layout      intervals = lay_out(networks);
    const dict_handle table = make_sorted_array(device, ORDO_U32, 4);
    must(ordo_dict_build_host(table.get(), intervals.begin.data(), intervals.number.data(), intervals.begin.size()));
    stopwatch clock;
    must(ordo_dict_seek_host(table.get(), ORDO_LE, address.data(), addresses, nullptr, belongs.data(), nullptr));
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
