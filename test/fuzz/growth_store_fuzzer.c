/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target over the reader of growth logs: any bytes as a log, by sites and by files, with room for so few
 * series that some must go.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ext/heapline/growth_line.h"
#include "../../ext/heapline/growth_store.h"
#include "../../ext/heapline/json_scanner.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* What the store says of its series must hold whatever it was fed. */
static void check(const struct hl_growth_store *store) {
    for (uint32_t i = 0; i < store->series_count; i++) {
        const struct hl_series *series = &store->series[i];
        if (series->count > HL_WINDOWS_MAX || series->count > series->room || series->process >= store->process_count)
            abort();
        for (int name = 0; name < HL_NAMES; name++)
            if (series->names[name] >= store->names.count) abort();
        for (uint32_t window = 0; window < series->count; window++)
            if (series->windows[window].lines > series->stride) abort();
    }
}

static void feed(const char *bytes, size_t size, int by_file) {
    struct hl_growth_store *store = malloc(sizeof(*store));
    if (!store || hl_growth_store_init(store, 8)) abort();
    store->by_file = by_file;
    hl_growth_store_feed(store, bytes, size);
    hl_growth_store_feed(store, bytes, size);
    check(store);
    hl_growth_store_release(store);
    free(store);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    char *exact = malloc(size ? size : 1); /* of exactly this size, so that a byte too far is seen */
    if (!exact) abort();
    memcpy(exact, data, size);
    feed(exact, size, 0);
    feed(exact, size, 1);
    free(exact);
    return 0;
}
