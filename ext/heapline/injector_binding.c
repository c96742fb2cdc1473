/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's way into another process: one call of a function there (injector.h).
 */
#include <ruby.h>
#include <ruby/thread.h>

#include "bindings.h"
#include "injector.h"

struct injecting {
    struct rbhl_injection asked;
    enum rbhl_injected done;
};

static void *inject_without_gvl(void *argument) {
    struct injecting *injecting = argument;
    injecting->done = rbhl_inject(&injecting->asked);
    return NULL;
}

/* Pairs of addresses, one behind the other: a String of 64-bit words, which the call keeps. */
static void take_ranges(struct rbhl_injection *asked, VALUE words) {
    asked->avoided = (const struct rbhl_range *)(const void *)RSTRING_PTR(words);
    asked->avoided_count = (size_t)RSTRING_LEN(words) / sizeof(*asked->avoided);
}

/* Native.inject(thread, function, returning, text, number, avoided) -> [Symbol, Integer]: have a thread of another
 * process (its kernel's number) call function(text, number, frame). `returning`: address of code there that calls
 * rt_sigreturn; avoided: ranges of code, [begin, end] packed as "Q*", where it must not be. :injected, or why not; and
 * for how many nanoseconds it was stopped. */
static VALUE rbhl_inject_call(VALUE self, VALUE thread, VALUE function, VALUE returning, VALUE text, VALUE number,
                              VALUE avoided) {
    static const char *const results[] = {"injected", "unsafe", "no_room", "forbidden", "gone", "lost"};
    struct injecting injecting = {.asked = {.thread = NUM2PIDT(thread),
                                            .function = (uintptr_t)NUM2ULL(function),
                                            .returning = (uintptr_t)NUM2ULL(returning),
                                            .number = NUM2ULL(number)}};
    StringValue(text);
    StringValue(avoided);
    text = rb_str_new_frozen(text);
    avoided = rb_str_new_frozen(avoided);
    injecting.asked.text = StringValueCStr(text);
    injecting.asked.text_bytes = (size_t)RSTRING_LEN(text) + 1;
    take_ranges(&injecting.asked, avoided);
    rb_thread_call_without_gvl(inject_without_gvl, &injecting, NULL, NULL);
    RB_GC_GUARD(text);
    RB_GC_GUARD(avoided);
    (void)self;
    return rb_assoc_new(ID2SYM(rb_intern(results[injecting.done])), ULL2NUM(injecting.asked.stopped_ns));
}

void rbhl_define_injector(VALUE native) {
    rb_define_singleton_method(native, "inject", rbhl_inject_call, 6);
}
