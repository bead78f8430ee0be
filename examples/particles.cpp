// SPDX-License-Identifier: Apache-2.0
// Particles: which others are near? Each lies in a cell of a grid, and particles near it lie in its cell or in the 26
// around. Particles are sorted by the Morton number of their cell, so that near particles are near in memory.
#include "example.hpp"

#include <numeric>

static const std::uint32_t side = 32; // cells of the grid, each way

// A cell's number: the interleaved bits of its three coordinates.
class morton {
  public:
    morton()
    {
        for (std::uint32_t x = 0; x < side; x++)
            for (std::uint32_t bit = 0; side >> bit; bit++)
                apart_[x] |= (x >> bit & 1) << 3 * bit;
    }
    std::uint32_t operator()(std::uint32_t x, std::uint32_t y, std::uint32_t z) const
    {
        return apart_[x] | apart_[y] << 1 | apart_[z] << 2;
    }

  private:
    std::uint32_t apart_[side] = {};
};

struct place {
    std::uint32_t x, y, z; // its cell
};

// Calls `visit` with the 27 cells around one, in a grid that wraps around.
template <class Visit> static void around(const place &p, Visit visit)
{
    for (std::uint32_t d = 0; d < 27; d++)
        visit((p.x + d % 3 + side - 1) % side, (p.y + d / 3 % 3 + side - 1) % side, (p.z + d / 9 + side - 1) % side);
}

static outcome particles(ordo_device *device, std::size_t count)
{
    std::vector<place> at(count);
    for (std::size_t i = 0; i < count; i++) {
        const std::uint64_t r = random_number(1, i);
        at[i] = { static_cast<std::uint32_t>(r % side), static_cast<std::uint32_t>((r >> 20) % side),
                  static_cast<std::uint32_t>((r >> 40) % side) };
    }

    // Cell c has particle[lower[c]] to particle[upper[c] - 1].
    const std::uint32_t        cells = side * side * side;
    const morton               number;
    stopwatch                  clock;
    std::vector<std::uint32_t> cell(count), particle(count), asked(cells), lower(cells), upper(cells), near(count);
    ordo_sort_params           sort = {};
    sort.key = ORDO_U32;
    sort.value_bytes = 4;
    sort.bits = 15; // of a cell's number
    ordo_equal_range_params search = {};
    search.key = ORDO_U32;
    for (std::size_t i = 0; i < count; i++)
        cell[i] = number(at[i].x, at[i].y, at[i].z);
    std::iota(particle.begin(), particle.end(), 0u);
    std::iota(asked.begin(), asked.end(), 0u);
    must(ordo_sort_host(device, &sort, cell.data(), particle.data(), count));
    must(ordo_equal_range_host(device, &search, cell.data(), count, asked.data(), cells, lower.data(), upper.data()));
    // Successive particles are near, and so are the cells around them.
    for (const std::uint32_t i : particle)
        around(at[i], [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
            const std::uint32_t c = number(x, y, z);
            near[i] += upper[c] - lower[c];
        });
    const double ordo_ms = clock.lap();

    std::vector<std::vector<std::uint32_t>> table(side * side * side);
    std::vector<std::uint32_t>              wanted(count);
    for (std::uint32_t i = 0; i < count; i++)
        table[(at[i].z * side + at[i].y) * side + at[i].x].push_back(i);
    for (std::size_t i = 0; i < count; i++)
        around(at[i], [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
            wanted[i] += static_cast<std::uint32_t>(table[(z * side + y) * side + x].size());
        });
    const double plain_ms = clock.lap();
    return { near == wanted, ordo_ms, plain_ms };
}

int main(int argc, char **argv)
{
    return run_task(argc, argv, "particles", 20000, particles);
}
