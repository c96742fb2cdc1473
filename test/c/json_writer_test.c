/* SPDX-License-Identifier: MIT */
#include "platform/json_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static struct hl_json json;

static void a_document(void) {
    char text[512] = "";
    int pipes[2];
    CHECK_EQUAL(pipe(pipes), 0);
    hl_json_begin(&json, pipes[1]);
    hl_json_open(&json, NULL, '{');
    hl_json_number(&json, "n", UINT64_MAX);
    hl_json_open(&json, "list", '[');
    hl_json_number(&json, NULL, 1);
    hl_json_open(&json, NULL, '{');
    hl_json_close(&json, '}');
    hl_json_number(&json, NULL, 0);
    hl_json_close(&json, ']');
    hl_json_text(&json, "t", "a\"b\\c\n\x01\x1f\xff", 9);
    hl_json_close(&json, '}');
    CHECK_EQUAL(hl_json_end(&json), 0);
    CHECK(read(pipes[0], text, sizeof(text) - 1) > 0);
    CHECK(!strcmp(text,
                  "{\"n\":18446744073709551615,\"list\":[1,{},0],\"t\":\"a\\\"b\\\\c\\u000a\\u0001\\u001f\xff\"}\n"));
}

static void a_failed_write_is_told(void) {
    hl_json_begin(&json, -1);
    for (int i = 0; i < 20000; i++) hl_json_number(&json, NULL, 12345);
    CHECK_EQUAL(hl_json_end(&json), -EBADF);
}

static const struct check_test tests[] = {{"a_document", a_document},
                                          {"a_failed_write_is_told", a_failed_write_is_told}};
CHECK_MAIN(tests)
