// SPDX-License-Identifier: Apache-2.0
// Time series: samples of many sensors. The task finds the last sample of a sensor before a time (as-of), and the
// number and sum of its samples in the minute before.
#include "example.hpp"

// A key is a sensor above seconds, so samples of a sensor are adjacent, in order of time.
static std::uint64_t at_time(std::uint64_t sensor, std::uint64_t seconds)
{
    return sensor << 32 | seconds;
}

static outcome time_series(ordo_device *device, std::size_t samples)
{
    const std::size_t          sensors = 1000, moments = samples / 2;
    const std::uint64_t        duration = samples / sensors * 10 + 60;
    std::vector<std::uint64_t> key(samples), when(moments), first(moments), minute(moments);
    std::vector<std::uint32_t> level(samples);
    for (std::size_t i = 0; i < samples; i++) {
        key[i] = at_time(random_number(1, i) % sensors, random_number(2, i) % duration);
        level[i] = static_cast<std::uint32_t>(random_number(3, i) % 1000);
    }
    for (std::size_t i = 0; i < moments; i++) {
        const std::uint64_t sensor = random_number(4, i) % sensors,
                            seconds = 59 + random_number(5, i) % (duration - 59);
        when[i] = at_time(sensor, seconds);
        minute[i] = at_time(sensor, seconds - 59);
        first[i] = at_time(sensor, 0);
    }

    stopwatch                  clock;
    const dict_handle          series = make_lsm(device, ORDO_U64, 4);
    std::vector<std::uint64_t> last_key(moments);
    std::vector<std::uint32_t> last_level(moments), sum(moments), n(moments);
    std::vector<std::uint8_t>  found(moments);
    must(ordo_dict_upsert_host(series.get(), key.data(), level.data(), samples));
    must(ordo_dict_seek_within_host(series.get(), ORDO_LE, when.data(), first.data(), moments, last_key.data(),
                                    last_level.data(), found.data()));
    must(ordo_dict_aggregate_host(series.get(), ORDO_U32, ORDO_SUM, minute.data(), when.data(), moments, sum.data(),
                                  n.data()));
    const double ordo_ms = clock.lap();

    plain::map<std::uint64_t, std::uint32_t> tree;
    std::vector<std::uint64_t>               plain_key(moments);
    std::vector<std::uint32_t>               plain_level(moments), plain_sum(moments), plain_n(moments);
    for (std::size_t i = 0; i < samples; i++)
        tree[key[i]] = level[i];
    for (std::size_t i = 0; i < moments; i++) {
        auto at = tree.upper_bound(when[i]);
        if (at != tree.begin() && (--at)->first >= first[i]) {
            plain_key[i] = at->first;
            plain_level[i] = at->second;
        }
        for (auto in = tree.lower_bound(minute[i]); in != tree.end() && in->first <= when[i]; ++in) {
            plain_sum[i] += in->second;
            plain_n[i]++;
        }
    }
    const double plain_ms = clock.lap();
    return { last_key == plain_key && last_level == plain_level && sum == plain_sum && n == plain_n, ordo_ms,
             plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "samples, half as many moments", 40000, time_series);
}
