/* SPDX-License-Identifier: MIT */
#include "names.hpp"

namespace heapline {
namespace capture {

namespace {

enum Sort : uint8_t { STRING = 1, FRAME, NODE, THREAD, TAG, RENAME, LIBRARY, CLASS };

/* Where a block of names was lost, so many may be missing before the next: more is damage. */
const uint64_t GAP = 1 << 20;
const uint32_t CLASSES = 1 << 20; /* at most */
const uint64_t TYPES = 32;        /* of objects */

template <typename Table> void begin_at(Table &table, uint64_t first) {
    if (first < table.size() || first - table.size() > GAP) throw Damage("its names do not follow on those before");
    table.resize(static_cast<size_t>(first));
}

} // namespace

Names::Names() : strings_(1), frames_(1), nodes_(1), threads_(1), tags_(1), classes_(1) {}

void Names::read(std::string_view payload) {
    Bytes bytes(payload);
    begin(bytes);
    while (!bytes.empty()) entry(bytes);
}

void Names::begin(Bytes &bytes) {
    begin_at(strings_, bytes.varint());
    begin_at(frames_, bytes.varint());
    begin_at(nodes_, bytes.varint());
    begin_at(threads_, bytes.varint());
    begin_at(tags_, bytes.varint());
}

void Names::entry(Bytes &bytes) {
    uint32_t number;
    switch (bytes.byte()) {
    case STRING:
        strings_.emplace_back(bytes.text());
        break;
    case FRAME: {
        Frame frame;
        frame.label = bytes.number(strings_.size());
        frame.path = bytes.number(strings_.size());
        frame.line = bytes.number(UINT32_MAX);
        frame.library = bytes.number(strings_.size());
        frame.offset = bytes.varint();
        frames_.push_back(frame);
        break;
    }
    case NODE:
        number = bytes.number(nodes_.size());
        nodes_.push_back({number, bytes.number(frames_.size())});
        break;
    case THREAD:
        number = bytes.number(strings_.size());
        threads_.push_back({number, bytes.varint()});
        break;
    case TAG:
        tags_.push_back(bytes.number(strings_.size()));
        break;
    case RENAME:
        number = bytes.number(threads_.size());
        threads_[number].name = bytes.number(strings_.size());
        break;
    case LIBRARY:
        number = bytes.number(strings_.size());
        libraries_.push_back({number, bytes.number(strings_.size())});
        break;
    case CLASS:
        number = bytes.number(CLASSES);
        if (number >= classes_.size()) classes_.resize(number + 1);
        classes_[number].name = bytes.number(strings_.size());
        classes_[number].type = bytes.number(TYPES);
        break;
    default:
        throw Damage("a name is of no known sort");
    }
}

void NewNames::add(uint8_t sort) {
    entries_.push_back(static_cast<char>(sort));
    waiting_++;
}

uint32_t NewNames::string(std::string_view text) {
    if (text.empty()) return 0;
    auto [found, is_new] = numbers_.emplace(text, next_.strings);
    if (!is_new) return found->second;
    add(STRING);
    put_text(entries_, text);
    return next_.strings++;
}

uint32_t NewNames::frame(const Frame &frame) {
    add(FRAME);
    for (uint64_t value :
         {uint64_t{frame.label}, uint64_t{frame.path}, uint64_t{frame.line}, uint64_t{frame.library}, frame.offset})
        put_varint(entries_, value);
    return next_.frames++;
}

uint32_t NewNames::node(uint32_t parent, uint32_t frame) {
    add(NODE);
    put_varint(entries_, parent);
    put_varint(entries_, frame);
    return next_.nodes++;
}

uint32_t NewNames::thread(std::string_view name, uint64_t tid) {
    uint32_t text = string(name);
    add(THREAD);
    put_varint(entries_, text);
    put_varint(entries_, tid);
    return next_.threads++;
}

void NewNames::rename(uint32_t thread, std::string_view name) {
    uint32_t text = string(name);
    add(RENAME);
    put_varint(entries_, thread);
    put_varint(entries_, text);
}

uint32_t NewNames::tag(std::string_view name) {
    if (name.empty()) return 0;
    auto [found, is_new] = tag_numbers_.emplace(name, next_.tags);
    if (!is_new) return found->second;
    uint32_t text = string(name);
    add(TAG);
    put_varint(entries_, text);
    return next_.tags++;
}

void NewNames::library(uint32_t path, std::string_view identity) {
    uint32_t text = string(identity);
    add(LIBRARY);
    put_varint(entries_, path);
    put_varint(entries_, text);
}

uint32_t NewNames::klass(std::string_view name, uint32_t type) {
    if (next_.classes == CLASSES) return 0;
    rename_class(next_.classes, name, type);
    return next_.classes++;
}

void NewNames::rename_class(uint32_t klass, std::string_view name, uint32_t type) {
    if (!klass) return;
    uint32_t text = string(name);
    add(CLASS);
    for (uint32_t value : {klass, text, type}) put_varint(entries_, value);
}

std::string NewNames::payload() const {
    std::string payload;
    for (uint32_t first : {first_.strings, first_.frames, first_.nodes, first_.threads, first_.tags})
        put_varint(payload, first);
    return payload + entries_;
}

void NewNames::written() {
    first_ = next_;
    entries_.clear();
    waiting_ = 0;
}

} // namespace capture
} // namespace heapline
