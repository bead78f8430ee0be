// SPDX-License-Identifier: Apache-2.0
// A dictionary from C++: finds the last event before each of some moments.
#include <ordo/ordo.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct close_device {
    void operator()(ordo_device *device) const
    {
        ordo_device_close(&device);
    }
};
struct destroy_dict {
    void operator()(ordo_dict *dict) const
    {
        ordo_dict_destroy(&dict);
    }
};

void must(ordo_device *device, ordo_status status)
{
    char why[1000] = "";
    if (status == ORDO_OK)
        return;
    ordo_device_last_error(device, why, sizeof why);
    throw std::runtime_error(why);
}

} // namespace

int main()
try {
    char               why[1000] = "";
    ordo_device_config open = {};
    open.message = why;
    open.message_bytes = sizeof why;
    ordo_device *opened = nullptr;
    if (ordo_device_open(&open, &opened) != ORDO_OK) // the first GPU, else a CPU
        throw std::runtime_error(why);
    const std::unique_ptr<ordo_device, close_device> device(opened);

    ordo_lsm_config config = {};
    config.dict.key = ORDO_I64;
    config.dict.value_bytes = 4;
    ordo_dict *created = nullptr;
    must(opened, ordo_lsm_create(opened, &config, &created));
    const std::unique_ptr<ordo_dict, destroy_dict> dict(created); // destroyed before its device

    const std::vector<std::int64_t>  times = { 1700000300, 1700000000, 1700000100 };
    const std::vector<std::uint32_t> events = { 3, 1, 2 };
    must(opened, ordo_dict_upsert_host(dict.get(), times.data(), events.data(), times.size()));

    const std::vector<std::int64_t> moments = { 1700000150, 1699999999, 1700000390 };
    std::vector<std::int64_t>       when(moments.size());
    std::vector<std::uint32_t>      event(moments.size());
    std::vector<std::uint8_t>       found(moments.size());
    must(opened, ordo_dict_seek_host(dict.get(), ORDO_LE, moments.data(), moments.size(), when.data(), event.data(),
                                     found.data()));
    for (std::size_t i = 0; i < moments.size(); i++) {
        if (found[i])
            std::printf("event %u was %lld s before\n", event[i], static_cast<long long>(moments[i] - when[i]));
        else
            std::printf("nothing was before\n");
    }
    return 0;
} catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
