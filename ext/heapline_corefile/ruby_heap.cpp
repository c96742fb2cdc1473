/* SPDX-License-Identifier: MIT */
#include "ruby_heap.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace heapline {
namespace corefile {

namespace {

enum : uint64_t {
    WORD = 8,
    KLASS = 8,
    TYPE = 0x1f,
    T_OBJECT = 0x01,
    T_CLASS = 0x02,
    T_MODULE = 0x03,
    T_STRING = 0x05,
    T_ARRAY = 0x07,
    T_DATA = 0x0c,
    T_IMEMO = 0x1a,
    T_ICLASS = 0x1c,
    T_ZOMBIE = 0x1d,
    T_MOVED = 0x1e,
    NOT_EMBEDDED = 1 << 13, /* of strings; of arrays: embedded */
    LEAST_PAGE = 1 << 14,   /* of Ruby 3.1 */
    LARGER_PAGE = 1 << 16,  /* of later ones */
    DESCRIPTION = 96,       /* bytes of it that are looked at */
    COUNTS = 32,            /* likewise, for the size and the number of slots (4.1-dev: from 24 on) */
    PAGE_HEAD = 256,
    CLASS_BYTES = 320,
    CLASS_EXTENSION = 24, /* of Ruby 3.1 */
    CLASS_VARIABLES = 32, /* of Ruby 3.2 */
    VARIABLES = 4,        /* of them that are looked at */
    NAME_MOST = 1 << 16,
    NAMES_KNOWN = 1 << 16,
    TABLE_KEYS = 16, /* st_table */
    TABLE_END = 40,
    TABLE_ENTRIES = 48,
    TABLE_ENTRY = 24,
    TABLE_MOST = 1 << 10,
    ANCESTORS = 64,
    STACK_MOST = 1 << 26, /* bytes */
    FRAMES_MOST = 1 << 14,
    BLOCKS_MOST = 1 << 23, /* 128 MB of memory */
    OBJECTS_MOST = 1 << 20,
    CLASSES_MOST = 1 << 18,
    EC_THREAD = 48,
    BODY_PATH = 64,
    BODY_LABEL = 80,
    SUCCINCT_FIRST = 54, /* positions that stand in words of nine */
    SUCCINCT_BLOCK = 512,
    SUCCINCT_BYTES = 80,
};

const char *type_name(uint64_t type) {
    static const char *const names[] = {
        nullptr, "OBJECT", "CLASS", "MODULE",  "FLOAT",    "STRING", "REGEXP", "ARRAY", "HASH",  "STRUCT", "BIGNUM",
        "FILE",  "DATA",   "MATCH", "COMPLEX", "RATIONAL", nullptr,  nullptr,  nullptr, nullptr, "SYMBOL", nullptr,
        nullptr, nullptr,  nullptr, nullptr,   "IMEMO",    "NODE",   "ICLASS", nullptr, nullptr, nullptr};
    return names[type & TYPE];
}

/* Of letters that are not ASCII's any may be a large one: that is a matter of the string's encoding. */
bool is_constant(const std::string &text) {
    bool begins = true;
    if (text.empty()) return false;
    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        const bool upper = (c >= 'A' && c <= 'Z') || (c & 0x80),
                   word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        if (begins ? !upper : !word && !(c == ':' && text[i + 1] == ':')) return false;
        begins = !begins && c == ':';
        if (begins) i++;
    }
    return !begins;
}

} // namespace

RubyHeap::RubyHeap(Image &image, const Job &job, Allocators &allocators, Libraries &libraries)
    : image_(image), libraries_(libraries) {
    find_blocks(job, allocators);
    find_pages(job);
    if (!found()) return;
    count(job);
    for (const uint64_t data : data_) {
        if (frames_.size() > FRAMES_MOST) break;
        if (!read_thread(image_.word(data + 4 * WORD))) read_thread(image_.word(data + 3 * WORD));
    }
    std::sort(unused_stacks_.begin(), unused_stacks_.end());
}

void RubyHeap::forget_blocks() {
    std::vector<Block>().swap(blocks_);
    std::vector<bool>().swap(claimed_);
}

/* ---- the pages ---- */

/* Anything in memory may look like a page of the other size; the size that more places have is Ruby's. */
void RubyHeap::find_pages(const Job &job) {
    std::vector<Page> larger;
    Page page;
    image_.each_piece(LEAST_PAGE, job, [&](const Image::Segment &segment, uint64_t at) {
        if (read_page(at, LEAST_PAGE, page)) pages_.push_back(page);
        if (at % LARGER_PAGE == 0 && segment.end - at >= LARGER_PAGE && read_page(at, LARGER_PAGE, page))
            larger.push_back(page);
    });
    page_bytes_ = LEAST_PAGE;
    if (larger.size() < pages_.size()) return;
    page_bytes_ = LARGER_PAGE;
    pages_.swap(larger);
}

/* By H1. */
bool RubyHeap::read_page(uint64_t address, uint64_t page_bytes, Page &page) {
    const uint64_t description = image_.word(address), end = address + page_bytes;
    uint64_t words[DESCRIPTION / WORD];
    uint16_t counts[COUNTS / 2];
    if (!description || description % WORD || (description >= address && description < end)) return false;
    if (!image_.read(description, words, sizeof(words))) return false;
    memcpy(counts, words, sizeof(counts));
    for (const uint64_t slots : words) {
        if (slots <= address || slots > address + PAGE_HEAD) continue;
        for (size_t i = 0; i < std::size(counts); i++) {
            const uint32_t bytes = counts[i];
            if (bytes < 16 || bytes % 8 || bytes > 2048) continue;
            for (size_t j = i + 1; j < std::size(counts); j++) {
                const uint64_t used = slots - address + static_cast<uint64_t>(bytes) * counts[j];
                if (!counts[j] || used > page_bytes || page_bytes - used >= bytes + 64) continue;
                page = {address, slots, bytes, counts[j]};
                return true;
            }
        }
    }
    return false;
}

const RubyHeap::Page *RubyHeap::page_of(uint64_t slot) const {
    auto after = std::upper_bound(pages_.begin(), pages_.end(), slot,
                                  [](uint64_t one, const Page &other) { return one < other.begin; });
    if (after == pages_.begin()) return nullptr;
    --after;
    return slot - after->begin < page_bytes_ ? &*after : nullptr;
}

bool RubyHeap::is_slot(uint64_t address) const {
    if (address % WORD) return false;
    const Page *page = page_of(address);
    return page && address >= page->slots && (address - page->slots) % page->slot_bytes == 0 &&
           (address - page->slots) / page->slot_bytes < page->count;
}

uint64_t RubyHeap::type_at(uint64_t slot) {
    return is_slot(slot) ? image_.word(slot) & TYPE : 0;
}

const char *RubyHeap::type_name_at(uint64_t slot) {
    return type_name(type_at(slot));
}

bool RubyHeap::is_class(uint64_t flags) {
    const uint64_t type = flags & TYPE;
    return type == T_CLASS || type == T_MODULE || type == T_ICLASS;
}

void RubyHeap::each_object(const Job &job, const EachObject &each) {
    size_t step = 0;
    for (const Page &page : pages_) {
        for (uint64_t i = 0; i < page.count; i++) {
            const uint64_t slot = page.slots + i * page.slot_bytes;
            uint64_t words[2];
            job.check(++step);
            if (!image_.read(slot, words, sizeof(words)) || !type_name(words[0])) continue;
            each(slot, page.slot_bytes, words[0], words[1]);
        }
    }
}

/* ---- names ---- */

/* An embedded string has its length before its bytes, or (Ruby 3.1) in its flags. */
std::string RubyHeap::string_at(uint64_t value, uint64_t most) {
    if (type_at(value) != T_STRING) return "";
    const uint64_t flags = image_.word(value);
    uint64_t length = image_.word(value + 2 * WORD), bytes = value + 3 * WORD;
    if (flags & NOT_EMBEDDED) {
        bytes = image_.word(bytes);
    } else if (length > page_of(value)->slot_bytes - 3 * WORD) {
        length = flags >> 14 & 31;
        bytes = value + 2 * WORD;
    }
    if (length > most) return "";
    std::string text(length, 0);
    /* Names of Ruby's own classes lie in its library, which cores leave out. */
    return image_.read(bytes, &text[0], length) || libraries_.read(bytes, &text[0], length, !guessing_) ? text : "";
}

std::string RubyHeap::constant_at(uint64_t value) {
    std::string text = string_at(value, guessing_ ? TEXT_MOST : NAME_MOST);
    return is_constant(text) ? text : "";
}

/* Ruby 3.1: of the class's own variables. */
uint64_t RubyHeap::table_of(uint64_t klass) {
    return image_.word(image_.word(klass + CLASS_EXTENSION) + WORD);
}

uint64_t RubyHeap::in_table(uint64_t table, uint64_t key) {
    const uint64_t end = std::min<uint64_t>(image_.word(table + TABLE_END), TABLE_MOST),
                   entries = image_.word(table + TABLE_ENTRIES);
    for (uint64_t i = 0; i < end; i++)
        if (image_.word(entries + i * TABLE_ENTRY + WORD) == key)
            return image_.word(entries + i * TABLE_ENTRY + 2 * WORD);
    return 0;
}

std::string RubyHeap::name_by(const Way &way, uint64_t klass) {
    if (way.key) return constant_at(in_table(table_of(klass), way.key));
    return constant_at(image_.word((way.outer ? image_.word(klass + way.outer) : klass) + way.place));
}

/* By H2. */
void RubyHeap::find_names(const std::vector<uint64_t> &classes) {
    std::unordered_map<uint64_t, size_t> keys;
    std::vector<size_t> at(CLASS_BYTES / WORD), supers(at), behind(VARIABLES);
    guessing_ = true;
    for (const uint64_t klass : classes) {
        const uint64_t bytes = page_of(klass)->slot_bytes;
        for (uint64_t i = 2; i < CLASS_BYTES / WORD && (i + 1) * WORD <= bytes; i++) {
            const uint64_t word = image_.word(klass + i * WORD), type = type_at(word);
            supers[i] += type == T_CLASS || type == T_ICLASS;
            at[i] += type == T_STRING && !constant_at(word).empty();
        }
        const uint64_t variables = image_.word(klass + CLASS_VARIABLES);
        for (uint64_t i = 0; variables && i < behind.size(); i++)
            behind[i] += !constant_at(image_.word(variables + i * WORD)).empty();
        const uint64_t table = table_of(klass), end = image_.word(table + TABLE_END),
                       entries = image_.word(table + TABLE_ENTRIES);
        for (uint64_t i = 0; end < 64 && i < end; i++)
            if (!constant_at(image_.word(entries + i * TABLE_ENTRY + 2 * WORD)).empty())
                keys[image_.word(entries + i * TABLE_ENTRY + WORD)]++;
    }
    guessing_ = false;
    for (uint64_t i = 2; i < at.size(); i++) {
        if (at[i] > names_.classes) names_ = {i * WORD, 0, 0, at[i]};
        if (!super_ && supers[i] * 10 > classes.size() * 7) super_ = i * WORD;
    }
    for (uint64_t i = 0; i < behind.size(); i++)
        if (behind[i] > names_.classes) names_ = {i * WORD, 0, CLASS_VARIABLES, behind[i]};
    for (const auto &[key, count] : keys)
        if (count > names_.classes) names_ = {0, key, 0, count};
}

/* Most that have none are below the same few: what was found for one holds for those on the way. */
std::string RubyHeap::name_of(uint64_t klass) {
    std::string name;
    std::vector<uint64_t> way;
    while (way.size() < ANCESTORS && is_slot(klass)) {
        const auto known = known_.find(klass);
        if (known != known_.end()) {
            name = known->second;
            break;
        }
        way.push_back(klass);
        const uint64_t type = type_at(klass);
        if (type != T_ICLASS && names_.classes) name = name_by(names_, klass);
        if (!name.empty() || !super_ || (type != T_CLASS && type != T_ICLASS)) break;
        klass = image_.word(klass + super_);
    }
    if (name.empty()) name = "(class without a name)";
    for (const uint64_t one : way)
        if (known_.size() < NAMES_KNOWN) known_[one] = name;
    return name;
}

/* ---- blocks ---- */

void RubyHeap::find_blocks(const Job &job, Allocators &allocators) {
    allocators.walk(job, [this](uint64_t block, uint64_t bytes) {
        if (blocks_.size() < BLOCKS_MOST) blocks_.push_back({block, bytes});
        used_bytes_ += bytes;
        used_blocks_++;
    });
    /* What only looks like one counts where an object leads to it. */
    allocators.walk_mapped(job, [this](uint64_t block, uint64_t bytes) {
        if ((bytes + 2 * WORD) % 4096) return false;
        if (blocks_.size() < BLOCKS_MOST) blocks_.push_back({block, bytes});
        return true;
    });
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block &one, const Block &other) { return one.begin < other.begin; });
    blocks_known_ = blocks_.size();
    claimed_.resize(blocks_.size());
}

/* The bytes of the block that begins there, the first time. */
uint64_t RubyHeap::claim(uint64_t address) {
    if (address % WORD || blocks_.empty() || address < blocks_.front().begin || address > blocks_.back().begin)
        return 0;
    const auto block = std::lower_bound(blocks_.begin(), blocks_.end(), address,
                                        [](const Block &one, uint64_t other) { return one.begin < other; });
    const size_t number = static_cast<size_t>(block - blocks_.begin());
    if (block == blocks_.end() || block->begin != address || claimed_[number]) return 0;
    claimed_[number] = true;
    return block->bytes;
}

/* ---- objects ---- */

void RubyHeap::count(const Job &job) {
    for (const bool array : {false, true})
        for (uint32_t power = 0; power <= Size::ELSEWHERE; power++) sizes_.push_back({array, power});
    std::unordered_map<uint64_t, Class> counted; /* by class, or by type where there is none */
    std::vector<uint64_t> classes;
    size_t step = 0;
    for (const Page &page : pages_) {
        for (uint64_t i = 0; i < page.count; i++) {
            const uint64_t slot = page.slots + i * page.slot_bytes;
            uint64_t words[5] = {};
            job.check(++step);
            if (!image_.read(slot, words, std::min<size_t>(sizeof(words), page.slot_bytes))) continue;
            const uint64_t type = words[0] & TYPE;
            if (!type_name(type)) continue; /* free, moved, or being freed */
            const bool classless = type == T_IMEMO || words[1] <= TYPE || counted.size() > CLASSES_MOST;
            Class &row = counted[classless ? type : words[1]];
            row.objects++;
            row.slot_bytes += page.slot_bytes;
            uint64_t block_bytes = 0;
            for (size_t word = 2; word < 5; word++) block_bytes += claim(words[word]);
            row.block_bytes += block_bytes;
            if (type == T_STRING || type == T_ARRAY) count_size(words[0], page.slot_bytes, block_bytes);
            if (type == T_CLASS && classes.size() < OBJECTS_MOST) classes.push_back(slot);
            if (type == T_DATA && data_.size() < OBJECTS_MOST) data_.push_back(slot);
        }
    }
    sizes_.erase(std::remove_if(sizes_.begin(), sizes_.end(), [](const Size &one) { return !one.objects; }),
                 sizes_.end());
    find_names(classes);
    std::unordered_map<std::string, Class> named;
    for (const auto &[klass, row] : counted) {
        const std::string name = klass <= TYPE ? "(" + std::string(type_name(klass)) + ")" : name_of(klass);
        Class &sum = named[name];
        sum.name = name;
        sum.objects += row.objects;
        sum.slot_bytes += row.slot_bytes;
        sum.block_bytes += row.block_bytes;
    }
    for (const auto &pair : named) classes_.push_back(pair.second);
    std::sort(classes_.begin(), classes_.end(),
              [](const Class &one, const Class &other) { return one.name < other.name; });
}

void RubyHeap::count_size(uint64_t flags, uint64_t slot_bytes, uint64_t block_bytes) {
    const bool array = (flags & TYPE) == T_ARRAY, points = !(flags & NOT_EMBEDDED) == array;
    uint32_t power = points ? Size::ELSEWHERE : Size::IN_SLOT;
    if (points && block_bytes) power = 63 - static_cast<uint32_t>(__builtin_clzll(block_bytes));
    Size &size = sizes_[array * (Size::ELSEWHERE + 1) + power];
    size.objects++;
    size.slot_bytes += slot_bytes;
    size.block_bytes += block_bytes;
}

/* ---- threads ---- */

/* By H3. Frames are 64 bytes up to Ruby 3.2, then 56. */
bool RubyHeap::read_thread(uint64_t thread) {
    for (const uint64_t place : {40, 48}) {
        const uint64_t ec = image_.word(thread + place), stack = image_.word(ec), words = image_.word(ec + WORD),
                       frame = image_.word(ec + 2 * WORD), end = stack + words * WORD;
        if (!ec || image_.word(ec + EC_THREAD) != thread || words > STACK_MOST / WORD) continue;
        if (frame < stack || frame >= end) continue;
        std::vector<Frame> frames, others;
        threads_++;
        const uint64_t top = image_.word(frame + WORD);
        if (top >= stack && top < frame) unused_stacks_.emplace_back(top, frame);
        const size_t large = read_frames(end, frame, 64, frames);
        if (read_frames(end, frame, 56, others) > large) frames.swap(others);
        frames_.insert(frames_.end(), frames.begin(), frames.end());
        return true;
    }
    return false;
}

/* Returns how many were found. */
size_t RubyHeap::read_frames(uint64_t end, uint64_t frame, uint64_t frame_bytes, std::vector<Frame> &frames) {
    for (uint64_t at = frame; at + frame_bytes <= end && frames.size() < FRAMES_MOST; at += frame_bytes) {
        const uint64_t pc = image_.word(at), iseq = image_.word(at + 2 * WORD);
        if (!pc || type_at(iseq) != T_IMEMO) continue;
        const uint64_t body = image_.word(iseq + 2 * WORD), path = image_.word(body + BODY_PATH);
        Frame found = {threads_, string_at(path), string_at(image_.word(body + BODY_LABEL)), line_at(body, pc)};
        /* What has a real path beside it is an array of two. */
        if (found.path.empty() && type_at(path) == T_ARRAY) found.path = string_at(image_.word(path + 2 * WORD));
        if (!found.path.empty() && found.line) frames.push_back(std::move(found));
    }
    return frames.size();
}

/* A pc is behind its instruction. Ruby 3.1 has what the positions are told by one word later. */
uint32_t RubyHeap::line_at(uint64_t body, uint64_t pc) {
    const uint64_t encoded = image_.word(body + WORD);
    if (pc < encoded) return 0;
    const uint64_t position = (pc - encoded) / WORD;
    for (const uint64_t insns : {112, 120})
        if (const uint32_t line = line_of(body + insns, position ? position - 1 : 0)) return line;
    return 0;
}

/* The positions at which a line begins are a set of bits: in words of nine counts, then in blocks of 512 with the
 * number of those before. */
uint32_t RubyHeap::line_of(uint64_t insns, uint64_t position) {
    const uint64_t lines = image_.word(insns), table = image_.word(insns + 3 * WORD),
                   size = image_.word(insns + 2 * WORD) & UINT32_MAX;
    uint64_t index = 0;
    if (!lines || !size || size > 1 << 20 || !image_.segment_at(lines)) return 0;
    if (size == 1) {
        index = 1;
    } else if (position < SUCCINCT_FIRST) {
        index = image_.word(table + position / 9 * WORD) >> (position % 9 * 7) & 127;
    } else {
        const uint64_t bit = position - SUCCINCT_FIRST, within = bit % SUCCINCT_BLOCK, part = within / 64,
                       block = table + SUCCINCT_FIRST / 9 * WORD + bit / SUCCINCT_BLOCK * SUCCINCT_BYTES;
        const uint64_t ranks = image_.word(block + WORD), bits = image_.word(block + (2 + part) * WORD);
        index = (image_.word(block) & UINT32_MAX) + (part ? ranks >> (part - 1) * 9 & 511 : 0) +
                static_cast<uint64_t>(__builtin_popcountll(bits << (63 - within % 64)));
    }
    if (!index || index > size) return 0;
    return static_cast<uint32_t>(image_.word(lines + (index - 1) * 12) & UINT32_MAX);
}

} // namespace corefile
} // namespace heapline
