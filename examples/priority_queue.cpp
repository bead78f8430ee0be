// SPDX-License-Identifier: Apache-2.0
// Priority queue: a simulation takes the next 1024 events, in order of time, and each causes a later one.
#include "example.hpp"

// An event is its time above 20 bits that distinguish events of one time.
static std::uint64_t event_after(std::uint64_t event)
{
    const std::uint64_t delay = 1 + random_number(2, event) % 1000000;
    return event + (delay << 20);
}

static outcome priority_queue(ordo_device *device, std::size_t events)
{
    const std::size_t          rounds = 64, batch = std::min<std::size_t>(1024, events);
    std::vector<std::uint64_t> pending(events), taken(rounds * batch), next(batch), wanted(rounds * batch);
    for (std::size_t i = 0; i < events; i++)
        pending[i] = random_number(1, i) % 1000000 << 20 | (i & 0xfffff);

    const dict_handle queue = make_lsm(device, ORDO_U64, 0);
    must(ordo_dict_build_host(queue.get(), pending.data(), nullptr, events));
    stopwatch clock;
    for (std::size_t r = 0; r < rounds; r++) {
        std::uint64_t *now = &taken[r * batch];
        std::size_t    n = 0;
        must(ordo_dict_take_first_host(queue.get(), batch, now, nullptr, &n));
        std::transform(now, now + n, next.begin(), event_after);
        must(ordo_dict_upsert_host(queue.get(), next.data(), nullptr, n));
    }
    const double ordo_ms = clock.lap();

    plain::set<std::uint64_t> set(pending.begin(), pending.end());
    clock.lap();
    for (std::size_t r = 0; r < rounds; r++) {
        std::uint64_t *now = &wanted[r * batch];
        auto           end = set.begin();
        for (std::size_t i = 0; i < batch && end != set.end(); i++)
            now[i] = *end++;
        set.erase(set.begin(), end);
        for (std::size_t i = 0; i < batch; i++)
            set.insert(event_after(now[i]));
    }
    const double plain_ms = clock.lap();
    return { taken == wanted, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "events, 64 times 1024 out and in", 100000, priority_queue);
}
