/* SPDX-License-Identifier: MIT */
#include "classes.hpp"

#include <cinttypes>
#include <cstdio>

namespace heapline {

/* Longer chains of singleton classes and included modules are damage, or loops. */
static const int CHAIN_MAX = 10000;

std::string Classes::label(uint32_t kind, uint64_t class_address, const Vocabulary &vocabulary) const {
    const std::string &type = vocabulary.type_of(kind);
    const std::string &detail = vocabulary.text(vocabulary.kind_at(kind).detail);
    std::string what = detail.empty() || type == "STRING" ? type : type + " " + detail;
    if (classless(type)) return "(" + what + ")";
    if (!class_address) return "(hidden " + what + ")";
    return class_name(class_address, vocabulary);
}

Place Classes::definition(uint32_t kind, uint64_t class_address, const Vocabulary &vocabulary) const {
    const Class *one = classless(vocabulary.type_of(kind)) ? nullptr : class_of_instances(class_address);
    return one ? one->definition : Place{};
}

const Class *Classes::class_of_instances(uint64_t &address) const {
    const Class *one = find(address);
    for (int i = 0; one && one->transparent && i < CHAIN_MAX; i++) {
        address = one->superclass;
        one = find(address);
    }
    return one;
}

/* Of a class without a name what Ruby prints. */
std::string Classes::class_name(uint64_t address, const Vocabulary &vocabulary) const {
    const Class *first = find(address), *one = class_of_instances(address);
    if (first && first->transparent && first->real_name) return vocabulary.text(first->real_name);
    if (one && one->name) return vocabulary.text(one->name);
    if (!one) return "(unknown class)";
    char text[40];
    snprintf(text, sizeof(text), "#<Class:0x%016" PRIx64 ">", address);
    return text;
}

std::pair<size_t, size_t> Classes::common(const Vocabulary &vocabulary, const Classes &others,
                                          const Vocabulary &others_vocabulary) const {
    size_t same = 0, all = 0;
    for (const auto &[address, one] : classes_) {
        if (!one.name) continue;
        const Class *other = others.find(address);
        same += other && others_vocabulary.text(other->name) == vocabulary.text(one.name);
        all++;
    }
    return {same, all};
}

} // namespace heapline
