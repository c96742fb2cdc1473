/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const KINDS[HL_WORKER_KINDS] = {
    [HL_PLAN_MALLOC] = "malloc",   [HL_PLAN_CALLOC] = "calloc", [HL_PLAN_ALIGNED] = "aligned",
    [HL_PLAN_REALLOC] = "realloc", [HL_PLAN_FREE] = "free",
};

void hl_result_string(const char *text) {
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < 0x20 || *at == '"' || *at == '\\' || *at >= 0x7f)
            printf("\\u%04x", *at);
        else
            putchar(*at);
    }
    putchar('"');
}

/* Nanoseconds: the counter's unit is what it was during the replay. */
static uint64_t ns(const struct hl_result *result, uint64_t ticks) {
    const uint64_t span = result->ended_ticks - result->began_ticks;
    return span ? (uint64_t)((double)ticks * (double)(result->ended_ns - result->began_ns) / (double)span) : 0;
}

static uint64_t without_reading(const struct hl_result *result, uint64_t ticks, uint64_t count) {
    const uint64_t reading = result->ticks_of_reading * count;
    return ticks > reading ? ticks - reading : 0;
}

static void write_calls(const struct hl_result *result, const struct hl_replay *replay) {
    const char *separator = "";
    printf("\"calls\":{");
    for (int kind = 0; kind < HL_WORKER_KINDS; kind++) {
        uint64_t count = 0, ticks = 0;
        for (uint32_t i = 0; i < replay->plan.header.threads; i++) {
            count += replay->workers[i].count[kind];
            ticks += replay->workers[i].ticks[kind];
        }
        printf("%s\"%s\":{\"count\":%" PRIu64 ",\"ns\":%" PRIu64 "}", separator, KINDS[kind], count,
               ns(result, without_reading(result, ticks, count)));
        separator = ",";
    }
    printf("}");
}

static uint64_t interrupted(const struct hl_replay *replay) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < replay->plan.header.threads; i++) count += replay->workers[i].interrupted;
    return count;
}

static uint64_t touch_ns(const struct hl_result *result, const struct hl_replay *replay) {
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < replay->plan.header.threads; i++) ticks += replay->workers[i].touch_ticks;
    return ns(result, ticks);
}

static uint64_t us(const struct timeval *before, const struct timeval *after) {
    return (uint64_t)((after->tv_sec - before->tv_sec) * 1000000 + after->tv_usec - before->tv_usec);
}

static uint64_t above(const struct hl_result *result, uint64_t resident) {
    return resident > result->baseline ? resident - result->baseline : 0;
}

static void write_samples(const struct hl_result *result, const struct hl_replay *replay,
                          const struct hl_samples *samples) {
    printf("\"samples\":[");
    for (uint32_t i = 0; i < samples->count; i++) {
        const struct hl_sample *sample = &samples->samples[i];
        const struct hl_plan_epoch *epoch = &replay->plan.epochs[sample->epoch];
        printf("%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
               (sample->epoch + 1) * replay->plan.header.window, epoch->live_bytes, above(result, sample->resident));
    }
    printf("]");
}

void hl_result_write(const struct hl_result *result, const struct hl_replay *replay, const struct hl_below *below,
                     const struct hl_samples *samples) {
    printf("{\"allocator\":");
    hl_result_string(below->name);
    printf(",\"version\":");
    hl_result_string(below->version);
    printf(",\"library\":");
    hl_result_string(below->library);
    printf(",\"wall_ns\":%" PRIu64 ",\"user_us\":%" PRIu64 ",\"system_us\":%" PRIu64 ",",
           result->ended_ns - result->began_ns, us(&result->before.ru_utime, &result->after.ru_utime),
           us(&result->before.ru_stime, &result->after.ru_stime));
    printf("\"minor_faults\":%ld,\"major_faults\":%ld,", result->after.ru_minflt - result->before.ru_minflt,
           result->after.ru_majflt - result->before.ru_majflt);
    printf("\"peak_bytes\":%" PRIu64 ",\"final_bytes\":%" PRIu64 ",", above(result, result->peak),
           above(result, result->final));
    if (result->trims)
        printf("\"trimmed_bytes\":%" PRIu64 ",\"trim_ns\":%" PRIu64 ",", above(result, result->trimmed),
               result->trim_ns);
    else
        printf("\"trimmed_bytes\":null,\"trim_ns\":null,");
    printf("\"touch_ns\":%" PRIu64 ",\"interrupted\":%" PRIu64 ",", touch_ns(result, replay), interrupted(replay));
    write_calls(result, replay);
    printf(",");
    write_samples(result, replay, samples);
    printf("}\n");
    fflush(stdout);
}
