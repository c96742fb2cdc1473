/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ready_memory.h"
#include "ticks.h"

enum { SPINS = 200, LINE = 64 };

/* A number that only grows, and that threads wait for. The low half of it is what the kernel compares. */
struct hl_mark {
    uint64_t value;
    uint32_t waiting;
} __attribute__((aligned(LINE)));

static struct hl_mark *done;    /* calls, by thread */
static struct hl_mark passed;   /* epochs that all threads have left, and all before them */
static uint32_t *left_in_epoch; /* threads that have something to do in it still */
static uint64_t epoch_count;
static struct timespec patience;
static pthread_mutex_t passing = PTHREAD_MUTEX_INITIALIZER; /* guards `passed` and the calls of on_passed */
static void (*on_passed)(uint64_t epoch);
static void (*on_stuck)(void);
static uint32_t threads_there, threads_waiting, waits_ended;

int hl_order_init(const struct hl_plan *plan, unsigned seconds, void (*when_passed)(uint64_t epoch),
                  void (*when_stuck)(void)) {
    patience = (struct timespec){.tv_sec = seconds};
    epoch_count = plan->header.epochs;
    on_passed = when_passed;
    on_stuck = when_stuck;
    done = hl_ready_memory(plan->header.threads * sizeof(*done));
    left_in_epoch = hl_ready_memory(epoch_count * sizeof(*left_in_epoch));
    if (!done || !left_in_epoch) return -1;
    for (uint64_t i = 0; i < epoch_count; i++) left_in_epoch[i] = plan->epochs[i].threads;
    return 0;
}

static uint32_t *low_half(struct hl_mark *mark) {
    return (uint32_t *)&mark->value + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void raise_to(struct hl_mark *mark, uint64_t value) {
    __atomic_store_n(&mark->value, value, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&mark->waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, low_half(mark), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static int reached(struct hl_mark *mark, uint64_t value) {
    return __atomic_load_n(&mark->value, __ATOMIC_SEQ_CST) >= value;
}

/* Sleeps once, for a while at most. */
static int sleep_below(struct hl_mark *mark, uint64_t value, const struct timespec *limit) {
    const uint64_t seen = __atomic_load_n(&mark->value, __ATOMIC_SEQ_CST);
    if (seen >= value) return 0;
    return syscall(SYS_futex, low_half(mark), FUTEX_WAIT_PRIVATE, (uint32_t)seen, limit, NULL, 0) ? errno : 0;
}

static int all_wait(void) {
    return __atomic_load_n(&threads_waiting, __ATOMIC_SEQ_CST) == __atomic_load_n(&threads_there, __ATOMIC_SEQ_CST);
}

static void await(struct hl_mark *mark, uint64_t value) {
    for (int i = 0; i < SPINS; i++) {
        if (reached(mark, value)) return;
        hl_pause();
    }
    __atomic_add_fetch(&threads_waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&mark->waiting, 1, __ATOMIC_SEQ_CST);
    while (!reached(mark, value)) {
        const uint32_t before = __atomic_load_n(&waits_ended, __ATOMIC_SEQ_CST);
        const int late = sleep_below(mark, value, &patience) == ETIMEDOUT;
        if (late && all_wait() && before == __atomic_load_n(&waits_ended, __ATOMIC_SEQ_CST) && !reached(mark, value))
            on_stuck();
    }
    __atomic_sub_fetch(&mark->waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&threads_waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&waits_ended, 1, __ATOMIC_SEQ_CST);
}

void hl_order_done(uint32_t thread, uint64_t calls) {
    raise_to(&done[thread], calls);
}

void hl_order_await(uint32_t thread, uint64_t calls) {
    await(&done[thread], calls);
}

/* Who was the last one in an epoch looks how many are done now. */
static void leave(int64_t epoch) {
    if (__atomic_sub_fetch(&left_in_epoch[epoch], 1, __ATOMIC_ACQ_REL)) return;
    pthread_mutex_lock(&passing);
    uint64_t now = passed.value;
    while (now < epoch_count && !__atomic_load_n(&left_in_epoch[now], __ATOMIC_ACQUIRE)) on_passed(now++);
    if (now != passed.value) raise_to(&passed, now);
    pthread_mutex_unlock(&passing);
}

void hl_order_epoch(int64_t from, int64_t to) {
    if (from >= 0) leave(from);
    if (to > 1) await(&passed, (uint64_t)to - 1);
}

void hl_order_thread_begins(void) {
    __atomic_add_fetch(&threads_there, 1, __ATOMIC_SEQ_CST);
}

void hl_order_thread_ends(void) {
    __atomic_sub_fetch(&threads_there, 1, __ATOMIC_SEQ_CST);
}

void hl_order_await_all(void) {
    await(&passed, epoch_count);
}
