/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of ordo-peer. */
#ifndef BENCH_PEER_HPP
#define BENCH_PEER_HPP

#include "bench/workload/workload.h"

#include <cuda_runtime_api.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

inline void must(cudaError_t code, const char *what)
{
    if (code != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

/* ---- device memory ------------------------------------------------------------------------------------------- */

/* Bytes on the device; 0 bytes: no array. */
class Array {
  public:
    explicit Array(size_t bytes = 0, const void *from = nullptr) : bytes_(bytes)
    {
        if (bytes == 0)
            return;
        must(cudaMalloc(&at_, bytes), "cudaMalloc");
        if (from)
            must(cudaMemcpy(at_, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        else
            must(cudaMemset(at_, POISON_BYTE, bytes), "cudaMemset");
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    Array(Array &&other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {
    }
    Array &operator=(Array &&other) noexcept
    {
        std::swap(at_, other.at_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Array()
    {
        cudaFree(at_);
    }

    template <typename T> T *as() const
    {
        return static_cast<T *>(at_);
    }
    std::vector<unsigned char> read() const
    {
        std::vector<unsigned char> host(bytes_);
        if (bytes_)
            must(cudaMemcpy(host.data(), at_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
        return host;
    }

  private:
    void  *at_ = nullptr;
    size_t bytes_ = 0;
};

/* A call to be timed. */
using Call = std::function<void()>;

/* A hash table: the timed call and its check. */
struct HashPeer {
    const char           *name;
    Call                  call;
    std::function<bool()> check;
};
/* The tables that can run the row, with new keys and values. */
std::vector<HashPeer> hash_peers(const struct spec &spec);

#endif
