/* SPDX-License-Identifier: MIT */
#include "survey.hpp"

namespace heapline {

namespace {

int string_group(uint8_t flags) {
    if (flags & Line::interned) return 0;
    if (flags & Line::embedded) return 1;
    return flags & Line::shared ? 2 : 3;
}

} // namespace

void Survey::object(const Line &line, uint32_t kind, uint32_t place) {
    uint64_t bytes = line.memsize, slot = line.slot_size;
    all.add(bytes, slot);
    references += line.references.size();
    classes[{line.class_address, kind}].add(bytes, slot);
    if (place >= places.size()) places.resize(place + 1);
    places[place].add(bytes, slot);
    generations[line.has_generation ? line.generation + 1 : 0].add(bytes, slot);
    if (line.type == "STRING") strings[string_group(line.flags)].add(bytes, slot);
}

void Survey::other(const Line &line) {
    switch (line.sort) {
    case Line::Sort::root:
        roots[std::string(line.root)] += line.references.size();
        references += line.references.size();
        break;
    case Line::Sort::free_slot:
        free_slots++;
        break;
    case Line::Sort::shape:
        shapes++;
        shape_bytes += line.memsize;
        break;
    case Line::Sort::end:
        ended = true;
        break;
    case Line::Sort::header:
        begun = true;
        pid = line.pid;
        version = line.version;
        ruby = line.ruby;
        time = line.time;
        break;
    default:
        break;
    }
}

void Survey::add(const Survey &more, const Translation &translation) {
    all.add(more.all);
    free_slots += more.free_slots;
    references += more.references;
    shapes += more.shapes;
    shape_bytes += more.shape_bytes;
    begun = begun || more.begun;
    ended = ended || more.ended;
    if (more.pid) pid = more.pid;
    if (more.version) version = more.version;
    if (!more.ruby.empty()) ruby = more.ruby;
    if (!more.time.empty()) time = more.time;
    for (const auto &[key, figures] : more.classes) classes[{key.address, translation.kind(key.kind)}].add(figures);
    for (uint32_t place = 0; place < more.places.size(); place++) {
        uint32_t ours = translation.place(place);
        if (ours >= places.size()) places.resize(ours + 1);
        places[ours].add(more.places[place]);
    }
    for (const auto &[generation, figures] : more.generations) generations[generation].add(figures);
    for (const auto &[name, count] : more.roots) roots[name] += count;
    for (int i = 0; i < STRINGS; i++) strings[i].add(more.strings[i]);
}

} // namespace heapline
