// SPDX-License-Identifier: MIT
//
// A Ruby extension with all forms of C++ new and delete. Operators.run prints what came of those that fail;
// Operators.known takes and frees 16 blocks of 1,000 bytes.
#include <cstdint>
#include <cstdio>
#include <new>

#include <ruby.h>

namespace {
const std::align_val_t aligned{256};
volatile std::size_t huge = PTRDIFF_MAX / 2;
int handled = 0;

void handler() {
    if (++handled == 3) std::set_new_handler(nullptr);
}

template <typename Take> void fails(const char *name, Take take) {
    try {
        std::printf("%s: %s\n", name, take() ? "block" : "null");
    } catch (const std::bad_alloc &) {
        std::printf("%s: bad_alloc\n", name);
    }
}

VALUE run(VALUE) {
    fails("new", [] { return ::operator new(huge); });
    fails("new[]", [] { return ::operator new[](huge); });
    fails("new nothrow", [] { return ::operator new(huge, std::nothrow); });
    fails("new[] nothrow", [] { return ::operator new[](huge, std::nothrow); });
    fails("new aligned", [] { return ::operator new(huge, aligned); });
    fails("new[] aligned", [] { return ::operator new[](huge, aligned); });
    fails("new aligned nothrow", [] { return ::operator new(huge, aligned, std::nothrow); });
    std::set_new_handler(handler);
    fails("new with a handler", [] { return ::operator new(huge); });
    std::printf("handled %d\n", handled);
    std::set_new_handler(handler);
    handled = 0;
    fails("new nothrow with a handler", [] { return ::operator new(huge, std::nothrow); });
    std::printf("handled %d\n", handled);
    std::set_new_handler(nullptr);
    ::operator delete(nullptr);
    std::printf("aligned %d\n", static_cast<int>(reinterpret_cast<std::uintptr_t>(::operator new(1, aligned)) % 256));
    std::fflush(stdout);
    return Qnil;
}

VALUE known(VALUE) {
    const std::size_t size = 1000;
    ::operator delete(::operator new(size));
    ::operator delete(::operator new(size), size);
    ::operator delete(::operator new(size), std::nothrow);
    ::operator delete(::operator new(size, std::nothrow));
    ::operator delete[](::operator new[](size));
    ::operator delete[](::operator new[](size), size);
    ::operator delete[](::operator new[](size), std::nothrow);
    ::operator delete[](::operator new[](size, std::nothrow));
    ::operator delete(::operator new(size, aligned), aligned);
    ::operator delete(::operator new(size, aligned), size, aligned);
    ::operator delete(::operator new(size, aligned), aligned, std::nothrow);
    ::operator delete(::operator new(size, aligned, std::nothrow), aligned);
    ::operator delete[](::operator new[](size, aligned), aligned);
    ::operator delete[](::operator new[](size, aligned), size, aligned);
    ::operator delete[](::operator new[](size, aligned), aligned, std::nothrow);
    ::operator delete[](::operator new[](size, aligned, std::nothrow), aligned);
    return Qnil;
}
} // namespace

extern "C" void Init_operators(void) {
    VALUE operators = rb_define_module("Operators");
    rb_define_module_function(operators, "run", run, 0);
    rb_define_module_function(operators, "known", known, 0);
}
