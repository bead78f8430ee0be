// SPDX-License-Identifier: Apache-2.0
// Top-k: the hundred best of many scores, and their owners.
#include "example.hpp"

#include <functional>

static outcome top_k(ordo_device *device, std::size_t scores)
{
    std::vector<float> score(scores);
    for (std::size_t i = 0; i < scores; i++)
        score[i] = static_cast<float>(random_number(1, i) >> 40);

    const std::size_t          k = std::min<std::size_t>(100, scores);
    std::vector<float>         best(k);
    std::vector<std::uint32_t> whose(k);
    stopwatch                  clock;
    ordo_top_k_params          params = {};
    params.key = ORDO_F32;
    params.greatest = true;
    must(ordo_top_k_host(device, &params, score.data(), nullptr, scores, k, best.data(), nullptr, whose.data()));
    const double ordo_ms = clock.lap();

    std::vector<float> wanted(k);
    std::partial_sort_copy(score.begin(), score.end(), wanted.begin(), wanted.end(), std::greater<float>());
    const double plain_ms = clock.lap();

    bool right = best == wanted;
    for (std::size_t i = 0; i < k; i++)
        right = right && score[whose[i]] == best[i];
    return { right, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "scores", 200000, top_k);
}
