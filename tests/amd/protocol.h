/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between the driver and the process that runs kernels, over a socket, and the map of a code object, which
 * toolchain.py writes.
 *
 * Device memory is a file that both map. The driver maps it as a whole. The runner maps each buffer at AMD_BASE plus
 * its place in the file, and nothing between buffers. A message is a struct message followed by `bytes` bytes. */
#ifndef ORDO_TESTS_AMD_PROTOCOL_H
#define ORDO_TESTS_AMD_PROTOCOL_H

#include <stdint.h>

#define AMD_BASE UINT64_C(0x100000000000)

enum message_kind {
    MESSAGE_MAP,    /* struct message_range: a buffer is there from now on */
    MESSAGE_UNMAP,  /* struct message_range: or is no more */
    MESSAGE_LOAD,   /* struct message_load: a program */
    MESSAGE_UNLOAD, /* uint32_t: its number */
    MESSAGE_LAUNCH, /* struct message_launch, then the kernel's arguments */
    MESSAGE_DONE    /* struct message_done: from the runner */
};
struct message {
    uint32_t kind, bytes;
};

struct message_range {
    uint64_t offset, bytes; /* whole pages */
};

struct message_load {
    uint32_t program;
    char     code[256], map[256]; /* files: the code object, its map */
};

struct message_launch {
    uint64_t id;
    uint64_t descriptor; /* address of the kernel's descriptor in the code object */
    uint32_t program, local_bytes, argument_bytes;
    uint32_t groups[3], group_size[3];
    char     name[64];
};

struct message_done {
    uint64_t id;
    int32_t  failed;
    char     text[400]; /* why */
};

/* A map: this header; `slots` words; `functions` names of MAP_NAME_BYTES, each FILE:SYMBOL; `troubles` texts of
 * MAP_TEXT_BYTES. Each slot belongs to a word of the code: 0 if no instruction begins there, else the number of a
 * function (or trouble) from 1 on, with flags in the upper byte. */
struct map_header {
    char     magic[8]; /* MAP_MAGIC */
    uint32_t slots, functions, troubles, unused;
};
#define MAP_MAGIC "ORDOMAP1"
enum { MAP_NAME_BYTES = 64, MAP_TEXT_BYTES = 160 };
enum {
    MAP_BARRIER = 1, /* the wave waits for its group behind this instruction */
    MAP_YIELD = 2,   /* the wave lets others run */
    MAP_TROUBLE = 4  /* the emulator cannot do it */
};

#endif
