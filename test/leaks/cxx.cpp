/* SPDX-License-Identifier: MIT */
#include <cstdlib>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "corpus.h"

namespace {

struct Plain {
    int numbers[20];
};

struct Destroyed {
    ~Destroyed() {}
    int numbers[5];
};

struct First {
    virtual ~First() {}
    int number = 1;
};

struct Second {
    virtual ~Second() {}
    int number = 2;
};

struct Both : First, Second {
    int numbers[10] = {};
};

struct Ring {
    std::shared_ptr<Ring> next;
};

struct alignas(64) Aligned {
    char bytes[192];
};

void *volatile sink;

CORPUS_FUNCTION cxx_lost_new() {
    sink = new Plain;
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_new_array() {
    sink = new int[50];
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_array_with_cookie() {
    sink = new Destroyed[7];
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_new_nothrow() {
    sink = new (std::nothrow) Plain;
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_new_aligned() {
    sink = new Aligned;
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_vector() {
    sink = new std::vector<int>(100);
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_string() {
    sink = new std::string(100, 'x');
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_map() {
    auto *map = new std::map<int, int>;
    for (int i = 0; i < 5; i++) (*map)[i] = i;
    sink = map;
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_release() {
    std::unique_ptr<Plain> owner(new Plain);
    sink = owner.release();
    sink = nullptr;
}

CORPUS_FUNCTION cxx_lost_shared_ring() {
    auto one = std::make_shared<Ring>(), other = std::make_shared<Ring>();
    one->next = other;
    other->next = one;
}

__attribute__((noinline)) void fails(Plain *plain) {
    plain->numbers[0] = 1;
    throw std::runtime_error("on purpose");
}

CORPUS_FUNCTION cxx_lost_by_an_exception() {
    try {
        Plain *plain = new Plain;
        fails(plain);
        delete plain;
    } catch (const std::exception &) {
    }
}

CORPUS_FUNCTION cxx_lost_object_with_two_tables() {
    sink = new Both;
    sink = nullptr;
}

/* ---- clean ---- */

CORPUS_FUNCTION cxx_held_by_a_static_variable() {
    static Plain *kept;
    kept = new Plain;
}

CORPUS_FUNCTION cxx_held_by_the_second_base() {
    static Second *kept;
    kept = new Both;
}

CORPUS_FUNCTION cxx_held_behind_a_cookie() {
    static Destroyed *kept;
    kept = new Destroyed[9];
}

CORPUS_FUNCTION cxx_held_by_a_vector() {
    static std::vector<std::string> kept;
    for (int i = 0; i < 20; i++) kept.push_back(std::string(50 + i, 'y'));
}

CORPUS_FUNCTION cxx_held_by_a_map() {
    static std::map<int, std::string> kept;
    for (int i = 0; i < 20; i++) kept[i] = std::string(60, 'z');
}

CORPUS_FUNCTION cxx_held_by_a_shared_pointer() {
    static std::shared_ptr<Plain> kept;
    kept = std::make_shared<Plain>();
}

CORPUS_FUNCTION cxx_held_by_a_closure() {
    static std::function<int()> kept;
    Plain plain = {};
    kept = [plain] { return plain.numbers[3]; };
}

CORPUS_FUNCTION cxx_held_aligned() {
    static Aligned *kept;
    kept = new Aligned;
}

CORPUS_FUNCTION cxx_freed_array_with_cookie() {
    delete[] new Destroyed[6];
}

CORPUS_FUNCTION cxx_freed_by_an_exception() {
    try {
        std::unique_ptr<Plain> owner(new Plain);
        fails(owner.get());
    } catch (const std::exception &) {
    }
}

CORPUS_FUNCTION cxx_freed_strings() {
    std::string text;
    for (int i = 0; i < 200; i++) text += "some more text ";
    sink = &text[0];
    sink = nullptr;
}

} // namespace

const corpus_case corpus_lost_cxx[] = {
    CORPUS_CASE(cxx_lost_new),
    CORPUS_CASE(cxx_lost_new_array),
    CORPUS_CASE(cxx_lost_array_with_cookie),
    CORPUS_CASE(cxx_lost_new_nothrow),
    CORPUS_CASE(cxx_lost_new_aligned),
    CORPUS_CASE(cxx_lost_vector),
    CORPUS_CASE(cxx_lost_string),
    CORPUS_CASE(cxx_lost_map),
    CORPUS_CASE(cxx_lost_release),
    CORPUS_CASE(cxx_lost_shared_ring),
    CORPUS_CASE(cxx_lost_by_an_exception),
    CORPUS_CASE(cxx_lost_object_with_two_tables),
    {nullptr, nullptr},
};

const corpus_case corpus_clean_cxx[] = {
    CORPUS_CASE(cxx_held_by_a_static_variable),
    CORPUS_CASE(cxx_held_by_the_second_base),
    CORPUS_CASE(cxx_held_behind_a_cookie),
    CORPUS_CASE(cxx_held_by_a_vector),
    CORPUS_CASE(cxx_held_by_a_map),
    CORPUS_CASE(cxx_held_by_a_shared_pointer),
    CORPUS_CASE(cxx_held_by_a_closure),
    CORPUS_CASE(cxx_held_aligned),
    CORPUS_CASE(cxx_freed_array_with_cookie),
    CORPUS_CASE(cxx_freed_by_an_exception),
    CORPUS_CASE(cxx_freed_strings),
    {nullptr, nullptr},
};
