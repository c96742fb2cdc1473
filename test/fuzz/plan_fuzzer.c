/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target over the replayer's check of plans: any bytes as a plan. Most would stop at the checksum, so all but
 * one in four get one that is right. What is accepted must keep what plan.h promises (P1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../ext/heapline_replay/plan.h"
#include "../../ext/heapline_replay/ready_memory.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void mend(unsigned char *bytes, size_t size) {
    struct hl_plan_header *header = (struct hl_plan_header *)bytes;
    if (size < sizeof(*header)) return;
    memcpy(header->magic, HL_PLAN_MAGIC, sizeof(header->magic));
    header->version = HL_PLAN_VERSION;
    header->size = size;
    uint64_t sum = HL_PLAN_SUM_START, word;
    for (size_t i = 0; i < size;) {
        if (i == offsetof(struct hl_plan_header, checksum)) i += 8;
        if (i + 8 <= size) {
            memcpy(&word, bytes + i, 8);
            sum = hl_plan_sum_word(sum, word);
            i += 8;
        } else if (i < size) {
            sum = hl_plan_sum_word(sum, bytes[i++]);
        }
    }
    header->checksum = sum;
}

static void check(struct hl_plan *plan) {
    static unsigned char buffer[HL_PLAN_BUFFER];
    for (uint32_t i = 0; i < plan->header.threads; i++) {
        struct hl_stream stream;
        struct hl_operation operation;
        int64_t epoch = -1;
        hl_stream_begin(&stream, plan, i, buffer);
        while (hl_stream_next(&stream, &operation)) {
            if (operation.op <= HL_PLAN_FREE && operation.slot >= plan->header.slots) abort();
            if (operation.op == HL_PLAN_START && (i || operation.thread >= plan->header.threads)) abort();
            if (operation.op != HL_PLAN_EPOCH) continue;
            if ((int64_t)operation.number <= epoch || operation.number >= plan->header.epochs) abort();
            epoch = (int64_t)operation.number;
        }
        if (stream.problem) abort();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static int fd;
    const char *problem;
    struct hl_plan plan;
    unsigned char *bytes = malloc(size + 1);
    if (!fd) fd = memfd_create("plan", 0);
    if (!bytes) abort();
    memcpy(bytes, data, size);
    if (size && data[size - 1] % 4) mend(bytes, size);
    if (ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size) abort();
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (hl_plan_open(&plan, path, &problem) == 0) {
        check(&plan);
    }
    hl_plan_close(&plan);
    free(bytes);
    return 0;
}
