/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ready_memory.h"

/* ---- a stream ---- */

void hl_stream_begin(struct hl_stream *stream, const struct hl_plan *plan, uint32_t thread, unsigned char *buffer) {
    const struct hl_plan_thread *entry = &plan->threads[thread];
    *stream = (struct hl_stream){
        .plan = plan, .buffer = buffer, .at = entry->at, .end = entry->at + entry->length, .epoch = -1};
}

static ssize_t read_at(int fd, void *to, size_t size, uint64_t at) {
    ssize_t length;
    do length = pread(fd, to, size, (off_t)at);
    while (length < 0 && errno == EINTR);
    return length;
}

static int fill(struct hl_stream *stream) {
    uint64_t size = stream->end - stream->at;
    if (size > HL_PLAN_BUFFER) size = HL_PLAN_BUFFER;
    if (!size) return 0;
    const ssize_t length = read_at(stream->plan->fd, stream->buffer, size, stream->at);
    if (length <= 0) {
        stream->problem = "it cannot be read to its end";
        return 0;
    }
    stream->at += (uint64_t)length;
    stream->next = 0;
    stream->filled = (size_t)length;
    return 1;
}

static int byte(struct hl_stream *stream, unsigned char *value) {
    if (stream->next == stream->filled && !fill(stream)) return 0;
    *value = stream->buffer[stream->next++];
    return 1;
}

static uint64_t number(struct hl_stream *stream) {
    uint64_t value = 0;
    unsigned char part;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!byte(stream, &part)) {
            if (!stream->problem) stream->problem = "an operation is cut short";
            return 0;
        }
        value |= (uint64_t)(part & 0x7f) << shift;
        if (!(part & 0x80)) return value;
    }
    stream->problem = "a number has too many bytes";
    return 0;
}

static void slot(struct hl_stream *stream, struct hl_operation *operation) {
    const uint64_t distance = number(stream);
    stream->slot += distance >> 1 ^ -(distance & 1);
    operation->slot = stream->slot;
    if (stream->slot >= stream->plan->header.slots) stream->problem = "an operation is for a slot that there is not";
}

static void alignment(struct hl_stream *stream, struct hl_operation *operation) {
    const uint64_t exponent = number(stream);
    if (exponent < HL_PLAN_ALIGNMENT_MIN || exponent > HL_PLAN_ALIGNMENT_MAX)
        stream->problem = "an alignment is not one that an allocator must support";
    operation->exponent = (uint32_t)exponent;
}

static void thread(struct hl_stream *stream, struct hl_operation *operation) {
    const uint64_t which = number(stream);
    if (which >= stream->plan->header.threads) stream->problem = "an operation is for a thread that there is not";
    operation->thread = (uint32_t)which;
}

static void epoch(struct hl_stream *stream, struct hl_operation *operation) {
    const uint64_t step = number(stream), epochs = stream->plan->header.epochs;
    if (!step || step > epochs || stream->epoch + (int64_t)step >= (int64_t)epochs)
        stream->problem = "an operation is in an epoch that there is not";
    else
        operation->number = (uint64_t)(stream->epoch += (int64_t)step);
}

int hl_stream_next(struct hl_stream *stream, struct hl_operation *operation) {
    unsigned char first;
    if (!byte(stream, &first)) return 0;
    *operation = (struct hl_operation){.op = first & HL_PLAN_OP, .awaited = !!(first & HL_PLAN_AWAITED)};
    if (first & ~(HL_PLAN_OP | HL_PLAN_AWAITED)) stream->problem = "an operation is of no known kind";
    if (operation->op <= HL_PLAN_FREE) slot(stream, operation);
    if (operation->op < HL_PLAN_FREE || operation->op == HL_PLAN_WAIT) {
        if (operation->op == HL_PLAN_WAIT) thread(stream, operation);
        operation->number = number(stream);
    }
    if (operation->op == HL_PLAN_REALLOC && !operation->number) stream->problem = "a block is resized to nothing";
    if (operation->op == HL_PLAN_ALIGNED) alignment(stream, operation);
    if (operation->op == HL_PLAN_EPOCH) epoch(stream, operation);
    if (operation->op == HL_PLAN_START) thread(stream, operation);
    return !stream->problem;
}

/* ---- the file as a whole ---- */

static const char NO_MEMORY[] = "there is not enough memory to check it";

static int within(const struct hl_plan_header *header, uint64_t at, uint64_t count, uint64_t each) {
    return at % 8 == 0 && at >= sizeof(*header) && at <= header->size && count <= (header->size - at) / each;
}

static const char *check_header(const struct hl_plan_header *header, uint64_t size) {
    if (header->version != HL_PLAN_VERSION) return "it is a plan of another version of heapline";
    if (header->size > size) return "it is cut short";
    if (header->size != size) return "there is more in the file than a plan";
    if (!header->threads || header->threads > HL_PLAN_THREADS_MAX) return "its number of threads is impossible";
    /* A call has two bytes at least, an epoch one call. */
    if (header->slots > header->calls || header->calls > size || header->epochs > header->calls + header->threads)
        return "its totals are impossible";
    if (!within(header, header->threads_at, header->threads, sizeof(struct hl_plan_thread)) ||
        !within(header, header->epochs_at, header->epochs, sizeof(struct hl_plan_epoch)))
        return "its tables lie outside the file";
    return NULL;
}

static uint64_t sum_bytes(uint64_t sum, const unsigned char *bytes, size_t size) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        sum = hl_plan_sum_word(sum, word);
    }
    for (; i < size; i++) sum = hl_plan_sum_word(sum, bytes[i]);
    return sum;
}

static const char *check_sum(const struct hl_plan *plan, unsigned char *buffer) {
    const struct hl_plan_header *header = &plan->header;
    uint64_t sum =
        sum_bytes(HL_PLAN_SUM_START, (const unsigned char *)header, offsetof(struct hl_plan_header, checksum));
    for (uint64_t at = sizeof(*header); at < header->size;) {
        uint64_t size = header->size - at < HL_PLAN_BUFFER ? header->size - at : HL_PLAN_BUFFER;
        if (read_at(plan->fd, buffer, size, at) != (ssize_t)size) return "it cannot be read to its end";
        sum = sum_bytes(sum, buffer, size);
        at += size;
    }
    return sum == header->checksum ? NULL : "it is damaged: its checksum does not match";
}

/* A table of the file in memory of our own. */
static const void *table(const struct hl_plan *plan, uint64_t at, uint64_t size) {
    void *memory = hl_ready_memory(size);
    if (memory && read_at(plan->fd, memory, size, at) == (ssize_t)size) return memory;
    hl_ready_memory_release(memory, size);
    return NULL;
}

/* What a thread's operations must be beside what the stream sees of each. seen: how often each epoch and each start. */
static const char *check_stream(const struct hl_plan *plan, uint32_t number, struct hl_stream *stream,
                                uint32_t *in_epoch, unsigned char *started) {
    struct hl_operation operation;
    uint64_t calls = 0, since = 0;
    while (hl_stream_next(stream, &operation)) {
        if (operation.op <= HL_PLAN_FREE) {
            calls++;
            if (stream->epoch < 0 || ++since > plan->header.window) return "its epochs are too long";
        } else if (operation.op == HL_PLAN_EPOCH) {
            since = 0;
            in_epoch[operation.number]++;
        } else if (operation.op == HL_PLAN_WAIT) {
            if (operation.thread == number || operation.number > plan->threads[operation.thread].calls)
                return "a thread waits for what never comes";
        } else if (number != 0 || operation.thread == 0 || started[operation.thread]++) {
            return "a thread is started by another than the first, or twice";
        }
    }
    if (stream->problem) return stream->problem;
    return calls == plan->threads[number].calls ? NULL : "a thread does not have as many calls as its table says";
}

static const char *check_all(const struct hl_plan *plan, unsigned char *buffer, uint32_t *in_epoch,
                             unsigned char *started) {
    uint64_t calls = 0;
    started[0] = 1;
    for (uint32_t i = 0; i < plan->header.threads; i++) {
        const struct hl_plan_thread *entry = &plan->threads[i];
        if (entry->at > plan->header.size || entry->length > plan->header.size - entry->at)
            return "its operations lie outside the file";
        struct hl_stream stream;
        hl_stream_begin(&stream, plan, i, buffer);
        const char *problem = check_stream(plan, i, &stream, in_epoch, started);
        if (problem) return problem;
        calls += entry->calls;
    }
    for (uint64_t i = 0; i < plan->header.epochs; i++)
        if (!in_epoch[i] || in_epoch[i] != plan->epochs[i].threads) return "its epochs are not those of its threads";
    for (uint32_t i = 0; i < plan->header.threads; i++)
        if (!started[i]) return "a thread is never started";
    return calls == plan->header.calls ? NULL : "its totals are impossible";
}

static const char *check_streams(const struct hl_plan *plan, unsigned char *buffer) {
    const size_t epochs = plan->header.epochs * sizeof(uint32_t), threads = plan->header.threads;
    uint32_t *in_epoch = hl_ready_memory(epochs);
    unsigned char *started = hl_ready_memory(threads);
    const char *problem = in_epoch && started ? check_all(plan, buffer, in_epoch, started) : NO_MEMORY;
    hl_ready_memory_release(in_epoch, epochs);
    hl_ready_memory_release(started, threads);
    return problem;
}

static uint64_t threads_size(const struct hl_plan *plan) {
    return plan->header.threads * sizeof(struct hl_plan_thread);
}

static uint64_t epochs_size(const struct hl_plan *plan) {
    return plan->header.epochs * sizeof(struct hl_plan_epoch);
}

static const char *read_tables(struct hl_plan *plan) {
    plan->threads = table(plan, plan->header.threads_at, threads_size(plan));
    plan->epochs = table(plan, plan->header.epochs_at, epochs_size(plan));
    unsigned char *buffer = hl_ready_memory(HL_PLAN_BUFFER);
    const char *problem = plan->threads && plan->epochs && buffer ? check_sum(plan, buffer) : NO_MEMORY;
    if (!problem) problem = check_streams(plan, buffer);
    hl_ready_memory_release(buffer, HL_PLAN_BUFFER);
    return problem;
}

static const char *read_plan(struct hl_plan *plan) {
    struct hl_plan_header *header = &plan->header;
    struct stat status;
    if (fstat(plan->fd, &status) || !S_ISREG(status.st_mode)) return "it is no regular file";
    const ssize_t length = read_at(plan->fd, header, sizeof(*header), 0);
    if (length < (ssize_t)sizeof(header->magic) || memcmp(header->magic, HL_PLAN_MAGIC, sizeof(header->magic)) != 0)
        return "it is no plan";
    if (length < (ssize_t)sizeof(*header)) return "it is cut short";
    const char *problem = check_header(header, (uint64_t)status.st_size);
    return problem ? problem : read_tables(plan);
}

int hl_plan_open(struct hl_plan *plan, const char *path, const char **problem) {
    *plan = (struct hl_plan){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    *problem = plan->fd < 0 ? strerror(errno) : read_plan(plan);
    return *problem ? -1 : 0;
}

void hl_plan_close(struct hl_plan *plan) {
    if (plan->fd >= 0) close(plan->fd);
    if (plan->threads) hl_ready_memory_release((void *)plan->threads, threads_size(plan));
    if (plan->epochs) hl_ready_memory_release((void *)plan->epochs, epochs_size(plan));
}
