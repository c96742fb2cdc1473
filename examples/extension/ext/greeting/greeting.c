/* A small C extension with a leak: it forgets its copy of a name that is too long. */
#include <ruby.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 40 };

/* Greeting.for("Ann") -> "Hello, Ann!"; raises ArgumentError where the name is too long. */
static VALUE greeting_for(VALUE self, VALUE name) {
    char *copy = strdup(StringValueCStr(name));
    (void)self;
    if (strlen(copy) > LONGEST) rb_raise(rb_eArgError, "the name is too long"); /* and `copy` is lost */
    VALUE text = rb_sprintf("Hello, %s!", copy);
    free(copy);
    return text;
}

void Init_greeting(void) {
    rb_define_singleton_method(rb_define_module("Greeting"), "for", greeting_for, 1);
}
