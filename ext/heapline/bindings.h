/* SPDX-License-Identifier: MIT */
/* What the bindings offer to native.c, which defines them all, and to each other. */
#ifndef RBHL_BINDINGS_H
#define RBHL_BINDINGS_H

#include <ruby.h>

/* Define the functions that read flight files (flight_binding.c) and what their headers
 * say and ask (header_binding.c), those that reach the preloaded core (core_binding.c),
 * those for Ruby objects (object_binding.c), the class that reads growth logs (growth_binding.c), twins
 * (twin_binding.c) and calls in other processes (injector_binding.c) on Heapline::Native. Called once, from
 * Init_native, with the GVL. */
void rbhl_define_flight(VALUE native);
void rbhl_define_header(VALUE native, VALUE flight_error);
void rbhl_define_core(VALUE native, VALUE not_enabled);
void rbhl_define_growth(VALUE native);
void rbhl_define_objects(VALUE native, VALUE not_enabled);
void rbhl_define_twin(VALUE native);
void rbhl_define_heap_pages(VALUE native);
void rbhl_define_injector(VALUE native);
void rbhl_define_leaks(VALUE native, VALUE not_enabled);

/* What the core, preloaded or loaded late, exports by that name; NULL: it is not there, or has no such. */
void *rbhl_core_symbol(const char *name);

/* The core's function of that name into `slot`; 0 without a core, or where it is of another version. */
int rbhl_core_function(const char *name, void *slot);

/* Raise NotEnabled without the preload. */
void rbhl_check_enabled(void);

/* Is it the descriptor of this process's own flight file? */
int rbhl_own_flight_p(VALUE path_or_fd);

/* Before this process reads its own rows of objects: have their classes named. With the GVL. */
void rbhl_settle_objects(VALUE path_or_fd);

/* The figure of a site (enum hl_figure) that this Symbol names. */
int rbhl_figure(VALUE symbol);

static inline void rbhl_put(VALUE hash, const char *key, VALUE value) {
    rb_hash_aset(hash, ID2SYM(rb_intern(key)), value);
}

static inline void rbhl_put_number(VALUE hash, const char *key, unsigned long long value) {
    rbhl_put(hash, key, ULL2NUM(value));
}

/* The place of what this Symbol names among `names`. */
static inline int rbhl_place_of(VALUE symbol, const char *const *names, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++)
        if (symbol == ID2SYM(rb_intern(names[i]))) return (int)i;
    rb_raise(rb_eArgError, "no such %s: %+" PRIsVALUE, what, symbol);
}

#endif
