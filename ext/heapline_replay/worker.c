/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "order.h"
#include "resident.h"
#include "ticks.h"

enum {
    LOOK_EVERY = 16 << 20, /* bytes touched between two looks at how much memory is in use */
    SLOW = 100000          /* ticks, some tens of us: such a call may have been interrupted */
};

static struct hl_slot *slot_of(struct hl_replay *replay, const struct hl_operation *operation) {
    return &replay->slots[operation->slot];
}

/* A plan from elsewhere may ask for more than there is: before the machine runs out of memory, the replay ends. */
static void account_touched(struct hl_replay *replay, struct hl_worker *worker, uint64_t bytes) {
    worker->touched += bytes;
    if (worker->touched < LOOK_EVERY) return;
    worker->touched = 0;
    if (hl_resident() + bytes > replay->limit)
        replay->fail("the memory in use grew to the limit, which is what was free before", replay->limit);
}

static enum hl_origin origin(const struct hl_operation *operation) {
    if (operation->op == HL_PLAN_CALLOC) return HL_ORIGIN_ZEROS;
    return operation->op == HL_PLAN_REALLOC ? HL_ORIGIN_GROWN : HL_ORIGIN_NEW;
}

static void keep(struct hl_replay *replay, struct hl_worker *worker, const struct hl_operation *operation, void *block,
                 uint64_t touched_from) {
    const uint64_t size = operation->number;
    const uint64_t to = hl_touched(replay->touching, size, origin(operation));
    if (!block) replay->fail("the allocator has no block of the size that is asked for", size);
    if (to > touched_from) {
        account_touched(replay, worker, to - touched_from);
        const uint64_t before = hl_ticks();
        hl_touch(block, touched_from, to);
        worker->touch_ticks += hl_ticks() - before;
    }
    if (!hl_slot_put(slot_of(replay, operation), block, size))
        replay->fail("the plan contradicts itself: a slot is used while there is a block in it", 0);
}

static void *take(struct hl_replay *replay, const struct hl_operation *operation, uint64_t *size) {
    void *block = hl_slot_take(slot_of(replay, operation), size);
    if (!block) replay->fail("the plan contradicts itself: there is no block in a slot that is to be freed", 0);
    return block;
}

static long switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* The time of a call that was interrupted is that of others: on a busy machine it would be most of all time. Waiting
 * for a lock of the allocator's is no interruption. */
static void account_time(struct hl_worker *worker, uint32_t op, uint64_t ticks) {
    worker->count[op]++;
    if (ticks > SLOW) {
        const long now = switches();
        if (now != worker->switches) {
            worker->switches = now;
            worker->interrupted++;
            return;
        }
    }
    worker->ticks[op] += ticks;
}

/* One call of the allocator, with its time. */
static void perform(struct hl_replay *replay, struct hl_worker *worker, const struct hl_operation *operation) {
    const uint64_t size = operation->number;
    uint64_t former = 0, before, after;
    void *taken = operation->op >= HL_PLAN_REALLOC ? take(replay, operation, &former) : NULL, *block = NULL;
    switch (operation->op) {
    case HL_PLAN_MALLOC:
        before = hl_ticks();
        block = malloc(size);
        after = hl_ticks();
        break;
    case HL_PLAN_CALLOC:
        before = hl_ticks();
        block = calloc(1, size);
        after = hl_ticks();
        break;
    case HL_PLAN_ALIGNED:
        before = hl_ticks();
        if (posix_memalign(&block, (size_t)1 << operation->exponent, size)) block = NULL;
        after = hl_ticks();
        break;
    case HL_PLAN_REALLOC:
        before = hl_ticks();
        block = realloc(taken, size);
        after = hl_ticks();
        break;
    default:
        before = hl_ticks();
        free(taken);
        after = hl_ticks();
        break;
    }
    account_time(worker, operation->op, after - before);
    worker->calls++;
    if (operation->op != HL_PLAN_FREE) keep(replay, worker, operation, block, former);
    if (operation->awaited) hl_order_done(worker->number, worker->calls);
}

void hl_worker_run(struct hl_replay *replay, uint32_t thread) {
    struct hl_worker *worker = &replay->workers[thread];
    struct hl_stream stream;
    struct hl_operation operation;
    int64_t epoch = -1;
    worker->number = thread;
    hl_stream_begin(&stream, &replay->plan, thread, replay->buffers + (size_t)thread * HL_PLAN_BUFFER);
    while (hl_stream_next(&stream, &operation)) {
        if (operation.op <= HL_PLAN_FREE) {
            perform(replay, worker, &operation);
        } else if (operation.op == HL_PLAN_EPOCH) {
            hl_order_epoch(epoch, (int64_t)operation.number);
            epoch = (int64_t)operation.number;
        } else if (operation.op == HL_PLAN_WAIT) {
            hl_order_await(operation.thread, operation.number);
        } else {
            replay->start(operation.thread);
        }
    }
    if (stream.problem) replay->fail(stream.problem, 0);
    hl_order_epoch(epoch, -1);
}
