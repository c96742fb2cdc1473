/* SPDX-License-Identifier: MIT */
/*
 * Heapline::Native's twins: for a program that dumps itself, and for heapline's core, which calls heapline_twin when
 * another process asked. That way nothing here has been initialized: the core maps this extension by itself.
 */
#include "bindings.h"

#include "../heapline_core/heapline_core.h"
#include "twin_tasks.h"

heapline_twin_function heapline_twin;

RUBY_FUNC_EXPORTED struct heapline_twin_made heapline_twin(int task, int fd, int gc, int32_t *status,
                                                           const char **problem) {
    struct heapline_twin_made answer = {0, 0};
    if (!task) {
        rbhl_twin_reap();
        return answer;
    }
    const struct rbhl_twin made = rbhl_twin_start((enum rbhl_task)task, fd, gc, status, problem);
    answer.pid = (uint32_t)made.pid;
    answer.pause_ns = made.pause_ns;
    return answer;
}

static enum rbhl_task task_named(VALUE name) {
    if (name == ID2SYM(rb_intern("dump"))) return RBHL_TASK_DUMP;
    if (name == ID2SYM(rb_intern("stacks"))) return RBHL_TASK_STACKS;
    if (name == ID2SYM(rb_intern("pages"))) return RBHL_TASK_PAGES;
    if (name == ID2SYM(rb_intern("code"))) return RBHL_TASK_CODE;
    rb_raise(rb_eArgError, "a task is :dump, :stacks, :pages or :code");
}

/* Native.twin(task, fd, gc) -> [pid, pause in ns]: a copy of this process that writes what `task` (see above) says
 * into the descriptor and ends. gc: after a full GC. Raises Heapline::Error. */
static VALUE rbhl_twin_of(VALUE self, VALUE task, VALUE fd, VALUE gc) {
    const int number = NUM2INT(fd);
    const char *problem;
    (void)self;
    const struct rbhl_twin made = rbhl_twin_start(task_named(task), number, RTEST(gc), NULL, &problem);
    if (problem) rb_raise(rb_path2class("Heapline::Error"), "%s", problem);
    return rb_assoc_new(INT2NUM(made.pid), ULL2NUM(made.pause_ns));
}

/* Native.twin_gone? -> whether the last one has ended and nothing of it is left. */
static VALUE rbhl_twin_gone_p(VALUE self) {
    (void)self;
    return rbhl_twin_reap() ? Qtrue : Qfalse;
}

void rbhl_define_twin(VALUE native) {
    rb_define_const(native, "ANOTHER_TWIN", rb_str_freeze(rb_utf8_str_new_cstr(RBHL_ANOTHER_TWIN)));
    rb_define_singleton_method(native, "twin", rbhl_twin_of, 3);
    rb_define_singleton_method(native, "twin_gone?", rbhl_twin_gone_p, 0);
}
