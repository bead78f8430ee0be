/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of ordo-peer-cl. */
#pragma once

#include "peer_run.hpp"

#include <boost/compute/core.hpp>

namespace compute = boost::compute;

/* Inputs and outputs on the device. An array of 0 bytes has one byte. */
struct Arrays {
    compute::command_queue queue;
    size_t                 count, key, value; /* elements; bytes of one */
    compute::buffer        keys, values, rows;
    compute::buffer        keys_out, values_out, counts, total;
    compute::buffer        keys_spare, values_spare;
    uint32_t               groups = 0;

    Arrays(const compute::command_queue &queue, const struct spec &spec, const struct inputs &in);

    compute::buffer array(size_t bytes, const void *from = nullptr) const;
    /* Elements of both arrays. The queue orders it before later calls. */
    void copy(const compute::buffer &keys_to, const compute::buffer &values_to);
};

/* A library's call. `finish` moves the result to the outputs; untimed, like `prepare`. */
struct Work {
    const char *name;
    Call        call;
    Call        prepare = {}, finish = {};
};

/* VexCL's calls; none if it is not built in. */
std::vector<Work> vexcl_works(const struct spec &spec, const std::shared_ptr<Arrays> &arrays);
/* As JSON fields. */
extern const char *const vexcl_version;
