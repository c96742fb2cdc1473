/* SPDX-License-Identifier: MIT */
#include "glibc.hpp"

#include <algorithm>

#include "allocator/glibc_arena.h"

namespace heapline {
namespace corefile {

namespace {

enum : uint64_t {
    WORD = 8,
    ARENA_TOP = HL_ARENA_TOP,
    ARENA_BINS = HL_ARENA_BINS,
    BINS = HL_ARENA_BIN_COUNT,
    ARENA_NEXT = HL_ARENA_NEXT,
    ARENA_SYSTEM = 2184,
    ARENA_MOST = 2192,
    ARENA_BYTES = HL_ARENA_BYTES,
    CHUNK_SIZE = HL_CHUNK_SIZE,
    CHUNK_FORWARD = 16,
    CHUNK_BACK = 24,
    HEADER = HL_CHUNK_HEADER,
    LEAST = HL_CHUNK_LEAST,
    ALIGNMENT = 16,
    PREVIOUS_IN_USE = HL_CHUNK_BEFORE_IN_USE,
    MAPPED = 2,
    FLAGS = 7,
    HEAP_BYTES = 64 << 20, /* arenas but the main one lie in heaps at multiples of it */
    HEAP_BEFORE = 8,
    HEAP_SIZE = HL_HEAP_SIZE,
    PAGE = 4096,
    MOST_ARENAS = 1 << 12,
    MOST_HEAPS = 1 << 16,
    MOST_BEGINNINGS = 64, /* that are tried */
    THREAD_CACHE = 648,   /* its lists of a thread: counts of 64 lists, then where they begin */
    LISTS = HL_THREAD_LISTS,
    FAST_LISTS = HL_ARENA_FAST_LISTS,
    FAST_AT = HL_ARENA_FAST,
    LEAST_BLOCK = 24,
    LISTED_MOST = 1 << 16,
    DATA_MOST = 16 << 20,
    BSS_MOST = 1 << 20,
};

/* Where in its first page a chunk with a mapping of its own may begin: where it is aligned to more than 16 bytes, two
 * words before a multiple of that. */
constexpr uint64_t beginnings[] = {0, 48, 112, 240, 496, 1008, 2032, 4080};

bool is_libc(const std::string &path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    return name == "libc.so.6" || (name.rfind("libc-2.", 0) == 0);
}

uint64_t multiple(uint64_t value, uint64_t of) {
    return (value + of - 1) / of * of;
}

} // namespace

Glibc::Glibc(Image &image) : Allocator(image) {
    /* Its file may be mapped elsewhere, too: Ruby does so to write its report of a crash. */
    for (const Image::Segment &segment : image_.segments()) {
        if (!segment.writable || segment.end - segment.begin > DATA_MOST) continue;
        for (const uint64_t address : {segment.begin, segment.begin - 1}) {
            const Image::Mapping *mapping = image_.mapping_at(address);
            if (!mapping || !is_libc(mapping->path) || segment.end > mapping->end + BSS_MOST) continue;
            data_.push_back(segment);
            break;
        }
    }
    for (const Image::Segment &segment : data_)
        for (uint64_t address = segment.begin; address + ARENA_BYTES <= segment.end; address += WORD)
            if (is_main(address) && read_arenas(address)) return;
}

/* Every bin is a ring whose first chunk leads back to it. */
bool Glibc::is_arena(uint64_t address) {
    if (!image_.word(address + ARENA_TOP)) return false;
    for (uint64_t i = 0; i < BINS; i++) {
        const uint64_t bin = address + ARENA_BINS + i * 2 * WORD - HEADER, first = image_.word(bin + CHUNK_FORWARD);
        if (!first || image_.word(first + CHUNK_BACK) != bin) return false;
    }
    const uint64_t system = image_.word(address + ARENA_SYSTEM);
    return system && image_.word(address + ARENA_MOST) >= system;
}

/* Most words fail the first test. */
bool Glibc::is_main(uint64_t address) {
    const uint64_t next = image_.word(address + ARENA_NEXT);
    return next && next % WORD == 0 && image_.segment_at(next) && is_arena(address);
}

bool Glibc::read_arenas(uint64_t main) {
    std::vector<Arena> found;
    for (uint64_t address = main; found.size() < MOST_ARENAS;) {
        found.emplace_back();
        found.back().address = address;
        found.back().top = image_.word(address + ARENA_TOP);
        found.back().system_bytes = image_.word(address + ARENA_SYSTEM);
        address = image_.word(address + ARENA_NEXT);
        if (address == main) {
            arenas_ = std::move(found);
            return true;
        }
        if (!is_arena(address)) return false;
    }
    return false;
}

uint64_t Glibc::size_at(uint64_t chunk) {
    return image_.word(chunk + CHUNK_SIZE) & ~uint64_t{FLAGS};
}

/* From chunk to chunk, up to the top one, a fence or what is no chunk. Returns where that is; reached: is it the top?
 * Without `each` nothing is counted. */
uint64_t Glibc::chain(const Job &job, uint64_t from, uint64_t end, Arena &arena, const Each *each, bool &reached) {
    uint64_t at = from;
    reached = false;
    for (size_t step = 1; at < end; step++) {
        if (at == arena.top) {
            reached = true;
            break;
        }
        job.check(step);
        const uint64_t size = size_at(at);
        if (size < LEAST || size % ALIGNMENT || size > end - at) break;
        if (each) take(at, size, arena, *each);
        at += size;
    }
    if (reached && each) arena.top_bytes = std::min(size_at(at), end - at);
    return at;
}

/* The next chunk says whether this one is in use; where that cannot be read, it is neither. */
void Glibc::take(uint64_t chunk, uint64_t size, Arena &arena, const Each &each) {
    const uint64_t next = image_.word(chunk + size + CHUNK_SIZE);
    const uint32_t number = static_cast<uint32_t>(&arena - arenas_.data()) + 1;
    if (!next) return;
    keep({chunk + HEADER, size - WORD, number, (next & PREVIOUS_IN_USE) != 0});
    if (next & PREVIOUS_IN_USE) {
        arena.used_bytes += size;
        each(chunk + HEADER, size - WORD);
        return;
    }
    add_free(arena, size);
}

/* It grows by brk, from where that began: the start of the segment, or where libc noted it (mp_.sbrk_base). */
void Glibc::walk_main(const Job &job, Arena &arena, const Each &each) {
    const Image::Segment *segment = image_.segment_at(arena.top);
    if (!segment) return;
    uint64_t from = segment->begin;
    uint64_t tried = 0;
    bool reached;
    chain(job, from, segment->end, arena, nullptr, reached);
    for (const Image::Segment &data : data_) {
        for (uint64_t at = data.begin; !reached && at + WORD <= data.end; at += WORD) {
            const uint64_t candidate = image_.word(at);
            if (candidate <= segment->begin || candidate >= arena.top || candidate % ALIGNMENT) continue;
            if (tried++ == MOST_BEGINNINGS) return;
            from = candidate;
            chain(job, from, segment->end, arena, nullptr, reached);
        }
    }
    if (!reached) return;
    chain(job, from, segment->end, arena, &each, reached);
    arena.walked_bytes = arena.top - from + size_at(arena.top);
    main_ = {segment->begin, segment->end};
    heaps_.push_back(main_);
}

/* The newest heap has the top chunk; each names the one before it. The first also holds the arena itself. */
void Glibc::walk_heaps(const Job &job, Arena &arena, const Each &each) {
    const uint64_t first = arena.address & ~uint64_t{HEAP_BYTES - 1}, head = arena.address - first;
    uint64_t base = arena.top & ~uint64_t{HEAP_BYTES - 1};
    const auto in_main = [this](uint64_t at) { return main_.first <= at && at < main_.second; };
    for (size_t i = 0; base && i < MOST_HEAPS && image_.word(base) == arena.address; i++) {
        const uint64_t size = image_.word(base + HEAP_SIZE);
        if (size > HEAP_BYTES || size % PAGE || in_main(base) || !seen_.insert(base).second) return;
        const uint64_t from = base == first ? multiple(arena.address + ARENA_BYTES, ALIGNMENT) : base + head;
        bool reached;
        chain(job, from, base + size, arena, &each, reached);
        arena.walked_bytes += size;
        heaps_.emplace_back(base, base + HEAP_BYTES);
        base = image_.word(base + HEAP_BEFORE);
        if (base % HEAP_BYTES) return;
    }
}

void Glibc::walk(const Job &job, const Each &each) {
    heaps_.clear();
    seen_.clear();
    main_ = {0, 0};
    largest_.clear();
    for (size_t i = 0; i < arenas_.size(); i++) {
        Arena arena;
        arena.address = arenas_[i].address;
        arena.top = arenas_[i].top;
        arena.system_bytes = arenas_[i].system_bytes;
        arenas_[i] = arena;
        if (i == 0)
            walk_main(job, arenas_[i], each);
        else
            walk_heaps(job, arenas_[i], each);
    }
    std::sort(heaps_.begin(), heaps_.end());
}

void Glibc::walk_mapped(const Job &job, const std::vector<Range> &heaps,
                        const std::function<bool(uint64_t block, uint64_t bytes)> &is_block) {
    size_t step = 0;
    auto heap = heaps.begin();
    for (const Image::Segment &segment : image_.segments()) {
        if (!segment.writable) continue;
        for (uint64_t page = multiple(segment.begin, PAGE);
             (page = multiple(image_.behind_hole(page), PAGE)) < segment.end;) {
            job.check(++step);
            while (heap != heaps.end() && heap->second <= page) ++heap;
            if (heap != heaps.end() && page >= heap->first) {
                page = heap->second;
                continue;
            }
            uint64_t next = page + PAGE;
            for (const uint64_t beginning : beginnings) {
                const uint64_t chunk = page + beginning, word = image_.word(chunk + CHUNK_SIZE),
                               size = word & ~uint64_t{FLAGS}, before = image_.word(chunk);
                if ((word & FLAGS) != MAPPED || size < LEAST || size > segment.memory_end - chunk) continue;
                if (before > chunk - segment.begin || (chunk - before) % PAGE) continue;
                if (!is_block(chunk + HEADER, size - HEADER)) continue;
                keep({chunk + HEADER, size - HEADER, 0, true});
                next = std::max(next, (chunk + size) & ~uint64_t{PAGE - 1});
                break;
            }
            page = next;
        }
    }
}

/* ---- what it keeps for the next call ---- */

/* Each has the next one's address, since 2.32 mixed with its own. */
void Glibc::free_list(const std::vector<Block> &blocks, uint64_t first, uint64_t least, uint64_t most,
                      const Take &take) {
    uint64_t at = first;
    for (uint64_t i = 0; at && i < LISTED_MOST; i++) {
        const size_t number = find_block(blocks, at);
        if (number == blocks.size() || blocks[number].begin != at) return;
        if (blocks[number].bytes < least || blocks[number].bytes > most || !take(number, true)) return;
        const uint64_t word = image_.word(at), mixed = word ^ at >> 12;
        at = !mixed || find_block(blocks, mixed) < blocks.size() ? mixed : word;
    }
}

void Glibc::find_thread_cache(const std::vector<Block> &blocks, uint64_t begin, const Take &take) {
    uint16_t counts[LISTS];
    uint64_t firsts[LISTS];
    if (!image_.read(begin, counts, sizeof(counts)) || !image_.read(begin + sizeof(counts), firsts, sizeof(firsts)))
        return;
    for (size_t i = 0; i < LISTS; i++)
        if (!counts[i] != !firsts[i] || firsts[i] % (2 * WORD)) return;
    for (size_t i = 0; i < LISTS; i++)
        if (firsts[i]) free_list(blocks, firsts[i], LEAST_BLOCK + i * 2 * WORD, LEAST_BLOCK + i * 2 * WORD, take);
}

void Glibc::find_cached(const Job &job, const std::vector<Block> &blocks, const Take &take) {
    if (arenas_.empty()) return;
    for (size_t i = 0; i < blocks.size(); i++) {
        job.check(i);
        if (blocks[i].bytes == THREAD_CACHE) find_thread_cache(blocks, blocks[i].begin, take);
    }
    for (const Arena &arena : arenas_)
        for (uint64_t i = 0; i < FAST_LISTS; i++) {
            const uint64_t first = image_.word(arena.address + FAST_AT + i * WORD);
            if (first) free_list(blocks, first + 2 * WORD, LEAST_BLOCK, LEAST_BLOCK + FAST_LISTS * 2 * WORD, take);
        }
}

std::vector<Allocator::Range> Glibc::books() const {
    std::vector<Range> books;
    for (const Arena &arena : arenas_) books.emplace_back(arena.address, arena.address + ARENA_BYTES);
    return books;
}

} // namespace corefile
} // namespace heapline
