// SPDX-License-Identifier: MIT
//
// A Ruby extension with threads that still allocate and free while they are torn down: C++ thread_local destructors,
// and pthread keys whose destructors set the key again, as often as the system allows.
#include <cstdlib>
#include <limits.h>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#include <ruby.h>

namespace {
pthread_key_t key;

struct Local {
    std::vector<std::string> words;
    ~Local() {
        for (int i = 0; i < 10; i++) words.push_back(std::string(100 + i, 'd'));
    }
};
thread_local Local local;

void set_again(void *value) {
    const long round = *static_cast<long *>(value);
    free(value);
    if (round >= PTHREAD_DESTRUCTOR_ITERATIONS) return;
    long *next = static_cast<long *>(malloc(sizeof(long)));
    *next = round + 1;
    pthread_setspecific(key, next);
}

void touch() {
    local.words.push_back(std::string(200, 't'));
    long *first = static_cast<long *>(malloc(sizeof(long)));
    *first = 1;
    pthread_setspecific(key, first);
}

VALUE touch_here(VALUE) {
    touch();
    return Qnil;
}

VALUE touch_in_native_thread(VALUE) {
    std::thread(touch).join();
    return Qnil;
}
} // namespace

extern "C" void Init_thread_end(void) {
    pthread_key_create(&key, set_again);
    VALUE module = rb_define_module("ThreadEnd");
    rb_define_module_function(module, "touch", touch_here, 0);
    rb_define_module_function(module, "native", touch_in_native_thread, 0);
}
