/* SPDX-License-Identifier: MIT */
/* What differs by version: where the VM keeps what vm_access.c reads (test/programs/vm_layout.c proves it by the VM's
 * own headers), and what it does. */
#ifndef RBHL_VM_OFFSETS_H
#define RBHL_VM_OFFSETS_H

#include <ruby/version.h>

#define VERSION (RUBY_API_VERSION_MAJOR * 100 + RUBY_API_VERSION_MINOR)

/* Bytes; where a version differs, by version. */
enum {
    EC_STACK = 0,
    EC_STACK_SIZE = 8, /* in words */
    EC_FRAME = 16,
    EC_INTERRUPT_FLAG = 32,
    EC_INTERRUPT_MASK = 36,
    EC_FIBER = 40,
    EC_THREAD = 48,
    THREAD_EC = VERSION < 302 ? 40 : 48,
    FRAME_SIZE = VERSION < 303 ? 64 : 56,
    FRAME_PC = 0,
    FRAME_ISEQ = 16,
    FRAME_SELF = 24,
    FRAME_EP = 32,
    FRAME_JIT = 48,
    ISEQ_BODY = 16,
    BODY_SIZE = 4,
    BODY_ENCODED = 8,
    BODY_PATHOBJ = 64,
    BODY_COLUMN = VERSION < 302 ? 104 : 100,
    BODY_LOCALS = VERSION < 302 ? 152 : 144,
    BODY_PARENT = BODY_LOCALS + (VERSION < 400 ? 16 : 24),
    BODY_LOCAL_COUNT = VERSION < 302   ? 240
                       : VERSION < 400 ? 232
                                       : 240,
    METHOD_ID = 24,
    ENV_ISEQ = 8,
    ENV_EP = 16,
    PROC_SELF = 0,
    PROC_TYPE = 24, /* of its block: 0 iseq, 1 ifunc */
    CONSTANT_LINE = 4,
    CONSTANT_VALUE = 8,
    CONSTANT_FILE = 16,
    HEAP_PAGE_BYTES = VERSION < 302 ? 16384 : 65536,
    IMEMO_KIND = 15, /* mask */
    IMEMO_ENV = 0,
    IMEMO_METHOD = 6,
    IMEMO_CODE = 7,
    KNOWN_VERSION = VERSION >= 301 && VERSION <= 401,
    RACTORS_STOP = VERSION >= 303 /* for a GC, and stay so while the VM's lock is held */
};

#endif
