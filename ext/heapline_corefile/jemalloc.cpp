/* SPDX-License-Identifier: MIT */
#include "jemalloc.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace heapline {
namespace corefile {

namespace {

enum : uint64_t {
    WORD = 8,
    PAGE = 1 << 12,
    ADDRESS_BITS = 48,
    ALIGNED = 64, /* what jemalloc keeps for itself */
    SLAB = 1,     /* of an element of a leaf; above ADDRESS_BITS it has the size class */
    DESCRIBED = ((uint64_t{1} << ADDRESS_BITS) - 1) & ~(ALIGNED - 1), /* what describes the extent */
    LEAVES_MOST = 1 << 14,
    TREES_MOST = 8,
    FOLLOWING = 1 << 12,
    MISFITS_MOST = 8,
    DATA_MOST = 64 << 20,    /* of what a library has that is looked at */
    LOOKED_MOST = 512 << 20, /* bytes that are looked at for a first leaf */
    /* A description of an extent. */
    EXTENT_BYTES = 128,
    EXTENT_ADDRESS = 8,
    EXTENT_SIZE = 16,
    EXTENT_REGIONS = 64,
    ARENA = (1 << 12) - 1, /* in its first word, and above that: */
    IS_SLAB = 1 << 12,
    KINDS = 232, /* size classes; this one: none */
    REGIONS_MOST = 512,
    RETAINED = 3,
    PROVEN_LEAST = 4,
    PROVEN_MOST = 1 << 14,
    ARENAS_MOST = 1 << 12,
    /* Memory that jemalloc keeps its books in: its size, the one before it, a description of what is left of it. */
    BOOK = 2 << 20,
    BOOK_NEXT = 8,
    BOOK_REST = 16 + EXTENT_ADDRESS,
    BOOK_REST_BYTES = 16 + EXTENT_SIZE,
    BOOKS_BACK = 1 << 9, /* so many steps of BOOK back from what lies in it */
    BOOKS_MOST = 1 << 16,
    /* What a thread keeps lies in its own variables, before what its thread register leads to. */
    THREAD_BYTES = 64 << 10,
};

/* Eight bytes, then four classes up to each power of two, from 16 on. */
uint64_t class_bytes(uint64_t kind) {
    if (!kind) return 8;
    const uint64_t group = (kind - 1) / 4, step = (kind - 1) % 4 + 1;
    return group ? (uint64_t{64} << (group - 1)) + step * (uint64_t{16} << (group - 1)) : 16 * step;
}

uint64_t regions_of(uint64_t bytes, uint64_t kind) {
    return std::min<uint64_t>(REGIONS_MOST, bytes / class_bytes(kind));
}

bool is_free(const uint64_t *regions, uint64_t number) {
    return regions[number / 64] >> number % 64 & 1;
}

uint64_t free_regions(const uint64_t *regions, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += is_free(regions, i);
    return sum;
}

} // namespace

/* The tree: its tables but the leaves lead to others; of a leaf each element stands for a page. An element is a word,
 * or, where jemalloc was built for addresses of 57 bits, two: the description, and what is said of it. */
struct Jemalloc::Shape {
    uint32_t levels;
    uint64_t elements;   /* of each table */
    uint64_t words;      /* of an element of a leaf */
    uint32_t kind, slab; /* of its second word: where its size class begins, and which bit says that it is a slab */

    uint64_t table_bytes() const {
        return elements * WORD;
    }
    uint64_t element_bytes() const {
        return words * WORD;
    }
    uint64_t leaf_bytes() const {
        return elements * element_bytes();
    }
    /* Of the addresses that a leaf stands for. */
    uint64_t reach() const {
        return elements * PAGE;
    }
    /* As if it were a word. */
    uint64_t element(const uint64_t *at) const {
        if (words == 1) return at[0];
        return (at[0] & DESCRIBED) | (at[1] & UINT32_MAX) >> kind << ADDRESS_BITS | (at[1] >> slab & SLAB);
    }
};

/* Of the first word of a description; the size class follows the state, and then how many regions are free. */
struct Jemalloc::Layout {
    uint32_t state, state_bits;
    bool counts; /* what a thread keeps: is its number there, or where it begins? */

    uint64_t state_of(const Extent &extent) const {
        return extent.bits >> state & ((1u << state_bits) - 1);
    }
    uint64_t kind_of(const Extent &extent) const {
        return extent.bits >> (state + state_bits) & 0xff;
    }
    uint64_t free_of(const Extent &extent) const {
        return extent.bits >> (state + state_bits + 8) & 0x3ff;
    }
    bool proves(const Extent &slab) const {
        const uint64_t count = regions_of(slab.bytes, slab.kind);
        return kind_of(slab) == slab.kind && free_of(slab) == free_regions(slab.regions, count);
    }
};

/* ---- the tree ---- */

/* What the element of a page leads to (J1). */
bool Jemalloc::read_extent(uint64_t page, uint64_t element, Extent &extent) {
    uint64_t words[EXTENT_BYTES / WORD];
    extent.at = element & DESCRIBED;
    extent.kind = element >> ADDRESS_BITS;
    if (!image_.read(extent.at, words, sizeof(words))) return false;
    extent.begin = page;
    extent.block = words[EXTENT_ADDRESS / WORD];
    extent.bytes = words[EXTENT_SIZE / WORD] & ~uint64_t{PAGE - 1};
    extent.bits = words[0];
    extent.slab = element & SLAB && extent.bits & IS_SLAB && extent.kind < KINDS && extent.block == page &&
                  class_bytes(extent.kind) <= extent.bytes;
    memcpy(extent.regions, words + EXTENT_REGIONS / WORD, sizeof(extent.regions));
    return (extent.block & ~uint64_t{PAGE - 1}) == page && extent.bytes && !(extent.bytes >> ADDRESS_BITS);
}

/* Of a table, which need not begin with a page: of pages that were never touched, and so are in no core, zeros. false:
 * nothing of it is there. */
bool Jemalloc::read_table(uint64_t at, void *to, size_t size) {
    bool any = false;
    for (size_t done = 0, part; done < size; done += part) {
        part = std::min<size_t>(size - done, PAGE - (at + done) % PAGE);
        const bool there = image_.read(at + done, static_cast<char *>(to) + done, part);
        if (!there) memset(static_cast<char *>(to) + done, 0, part);
        any |= there;
    }
    return any;
}

/* May a table lie there? */
bool Jemalloc::is_table(uint64_t at, uint64_t bytes) {
    const Image::Segment *segment = !at || at % ALIGNED ? nullptr : image_.segment_at(at);
    return segment && segment->writable && segment->memory_end - at >= bytes;
}

/* A program's addresses are in the lower half of the root: so much of it must follow. Asked first, since a table may be
 * read to its end in vain. */
bool Jemalloc::is_root_around(uint64_t at) {
    for (uint64_t i = 1; i < FOLLOWING; i++) {
        const uint64_t child = image_.word(at + i * WORD);
        if (child && !is_table(child, shape_->table_bytes())) return false;
    }
    return true;
}

/* Is it a leaf? Then its first extent says of which addresses. */
bool Jemalloc::find_leaf(uint64_t at, uint64_t &budget, Leaf &leaf) {
    uint64_t words[PAGE / WORD];
    const uint64_t elements = shape_->elements, at_once = std::size(words) / shape_->words;
    size_t misfits = 0;
    for (uint64_t i = 0; i < elements && budget;) {
        const uint64_t from = at + i * shape_->element_bytes(), behind = image_.behind_hole(from);
        if (behind > from + shape_->element_bytes()) {
            i = std::min(elements, (behind - at) / shape_->element_bytes());
            continue;
        }
        const uint64_t count = std::min(at_once, elements - i);
        budget -= std::min(budget, count * shape_->element_bytes());
        const bool there = read_table(from, words, count * shape_->element_bytes());
        for (uint64_t j = 0; there && j < count; j++) {
            const uint64_t element = shape_->element(words + j * shape_->words);
            if (!element || (!(element & DESCRIBED) && element >> ADDRESS_BITS >= KINDS)) continue;
            if (fits(at, i + j, element, leaf)) return true;
            if (++misfits == MISFITS_MOST) return false;
        }
        i += count;
    }
    return false;
}

/* An element of a leaf may be of the last page of an extent, or of one between, that begins in an earlier leaf. */
bool Jemalloc::fits(uint64_t at, uint64_t number, uint64_t element, Leaf &leaf) {
    const uint64_t elements = shape_->elements;
    const uint64_t begin = image_.word((element & DESCRIBED) + EXTENT_ADDRESS) & ~uint64_t{PAGE - 1};
    Extent extent;
    if (begin < PAGE || begin >> (ADDRESS_BITS - 1) || !read_extent(begin, element, extent)) return false;
    const uint64_t last = begin + extent.bytes - PAGE;
    uint64_t page = begin + (number - begin / PAGE) % elements * PAGE;
    if (page > last) return false;
    if (page != begin && last / PAGE % elements == number) page = last;
    leaf = {page & ~(shape_->reach() - 1), at};
    return true;
}

/* The first leaf of a table that stands so many levels above the leaves. */
bool Jemalloc::find_first(uint64_t at, uint32_t levels, uint64_t &budget, Leaf &leaf) {
    if (!is_table(at, levels ? shape_->table_bytes() : shape_->leaf_bytes())) return false;
    if (!levels) return find_leaf(at, budget, leaf);
    budget -= std::min(budget, shape_->table_bytes());
    for (uint64_t i = 0; i < shape_->elements && budget; i++)
        if (const uint64_t child = image_.word(at + i * WORD)) return find_first(child, levels - 1, budget, leaf);
    return false;
}

/* Those of a table that stands so many levels above them, for addresses from `begin` on. false: it is none. */
bool Jemalloc::find_leaves(uint64_t at, uint32_t levels, uint64_t begin, uint64_t &budget) {
    Leaf leaf;
    if (!levels) {
        if (find_leaf(at, budget, leaf) && leaf.begin == begin) leaves_.push_back(leaf);
        return budget && leaves_.size() < LEAVES_MOST;
    }
    const uint64_t below = levels == 1 ? shape_->leaf_bytes() : shape_->table_bytes();
    const uint64_t reach = levels == 1 ? shape_->reach() : shape_->reach() * shape_->elements;
    if (!budget) return false;
    budget -= std::min(budget, shape_->table_bytes());
    for (uint64_t i = 0; i < shape_->elements; i++) {
        const uint64_t child = image_.word(at + i * WORD);
        if (child && (!is_table(child, below) || !find_leaves(child, levels - 1, begin + i * reach, budget)))
            return false;
    }
    return true;
}

/* Does its root have a place there, for what this word leads to? Returns where it begins, or 0. */
uint64_t Jemalloc::find_root(const Job &job, uint64_t at, uint64_t word, uint64_t &budget) {
    const uint32_t levels = shape_->levels - 1;
    Leaf leaf;
    if (!is_root_around(at) || !find_first(word, levels - 1, budget, leaf)) return 0;
    const uint64_t reach = levels == 1 ? shape_->reach() : shape_->reach() * shape_->elements;
    const uint64_t root = at - leaf.begin / reach * WORD;
    if (root > at || !image_.segment_at(root) || !find_leaves(root, levels, 0, budget)) return 0;
    /* No two have memory in common, or a small file would stand for memory without end. */
    std::sort(leaves_.begin(), leaves_.end(), [](const Leaf &one, const Leaf &other) { return one.at < other.at; });
    for (size_t i = 1; i < leaves_.size(); i++)
        if (leaves_[i].at - leaves_[i - 1].at < shape_->leaf_bytes()) return 0;
    std::sort(leaves_.begin(), leaves_.end(),
              [](const Leaf &one, const Leaf &other) { return one.begin < other.begin; });
    budget -= std::min(budget, leaves_.size() * shape_->leaf_bytes());
    return find_layout(job) ? root : 0;
}

/* The root lies in a library's or program's own data. */
std::vector<std::unique_ptr<Jemalloc>> Jemalloc::find(Image &image, const Job &job) {
    static const Shape shapes[] = {{2, 1 << 18, 1, 0, 0}, {3, 1 << 15, 2, 5, 0}, {3, 1 << 15, 2, 0, 32}};
    std::vector<std::unique_ptr<Jemalloc>> found;
    uint64_t budget = LOOKED_MOST;
    size_t step = 0;
    const Image::Segment *before = nullptr;
    bool data = false;
    for (const Image::Segment &segment : image.segments()) {
        /* What was not touched at the beginning of a mapping may be a segment for itself. */
        const bool goes_on = data && before->memory_end == segment.begin;
        data = segment.writable && (goes_on || image.mapping_at(segment.begin) || image.mapping_at(segment.begin - 1));
        before = &segment;
        if (!data) continue;
        const uint64_t end = std::min(segment.end, segment.begin + DATA_MOST);
        for (uint64_t at = (segment.begin + WORD - 1) & ~(WORD - 1); at + WORD <= end && budget; at += WORD) {
            job.check(++step);
            const uint64_t behind = image.behind_hole(at) & ~(WORD - 1);
            if (behind > at) {
                at = behind - WORD;
                continue;
            }
            const uint64_t word = image.word(at);
            if (!word || word % ALIGNED || !image.segment_at(word)) continue;
            for (const Shape &shape : shapes) {
                std::unique_ptr<Jemalloc> one(new Jemalloc(image, shape));
                const uint64_t root = one->find_root(job, at, word, budget);
                if (!root) continue;
                found.push_back(std::move(one));
                if (found.size() == TREES_MOST) return found;
                at = root + shape.table_bytes() - WORD;
                break;
            }
        }
    }
    return found;
}

/* From each extent to where it ends (J3). `each` ends it with false. */
template <typename Body> void Jemalloc::each_extent(const Job &job, const Body &each) {
    uint64_t words[PAGE / WORD];
    const uint64_t elements = shape_->elements, bytes = shape_->element_bytes(), at_once = PAGE / bytes;
    uint64_t next = 0;
    size_t step = 0;
    for (const Leaf &leaf : leaves_) {
        uint64_t there = elements; /* the first of the elements that are in `words` */
        for (uint64_t i = 0; i < elements; i++) {
            if (leaf.begin + i * PAGE < next) {
                i = std::min((next - leaf.begin) / PAGE, elements);
                if (i == elements) break;
            }
            const uint64_t first = i / at_once * at_once, from = leaf.at + first * bytes;
            if (first != there) {
                job.check(++step);
                if (image_.behind_hole(from) >= from + PAGE || !read_table(from, words, sizeof(words))) {
                    i = first + at_once - 1;
                    continue;
                }
                there = first;
            }
            Extent extent;
            const uint64_t element = shape_->element(words + (i - first) * shape_->words);
            const uint64_t page = leaf.begin + i * PAGE;
            if (!(element & DESCRIBED) || !read_extent(page, element, extent)) continue;
            if (!each(extent)) return;
            next = page + extent.bytes;
        }
    }
}

/* By J2. At the moment of the core a slab may be changing; what was one and is free may still be said to be one. */
bool Jemalloc::find_layout(const Job &job) {
    static const Layout layouts[] = {{17, 3, false}, {16, 2, true}, {15, 2, true}}; /* 5.3; 5.1 and 5.2; 5.0 */
    uint64_t looked = 0, most = PROVEN_LEAST - 1, proven[std::size(layouts)] = {}, against[std::size(layouts)] = {};
    each_extent(job, [&](const Extent &extent) {
        if (extent.block % PAGE && extent.bytes > PAGE) padded_ = true;
        for (size_t i = 0; extent.slab && i < std::size(layouts); i++)
            if (!layouts[i].state_of(extent)) (layouts[i].proves(extent) ? proven : against)[i]++;
        return ++looked < PROVEN_MOST;
    });
    for (size_t i = 0; i < std::size(layouts); i++) {
        if (proven[i] <= most || against[i] > proven[i] / 16) continue;
        most = proven[i];
        layout_ = &layouts[i];
    }
    return layout_;
}

/* ---- extents ---- */

Allocator::Arena &Jemalloc::arena_of(const Extent &extent) {
    const uint32_t index = extent.bits & ARENA;
    const auto place = std::lower_bound(arenas_.begin(), arenas_.end(), index,
                                        [](const Arena &one, uint32_t other) { return one.index < other; });
    if (place != arenas_.end() && place->index == index) return *place;
    Arena arena;
    arena.index = index;
    return *arenas_.insert(place, arena);
}

void Jemalloc::take_slab(const Extent &extent, Arena &arena, const Each &each) {
    const uint64_t bytes = class_bytes(extent.kind), count = regions_of(extent.bytes, extent.kind);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t block = extent.begin + i * bytes;
        if (is_free(extent.regions, i)) {
            add_free(arena, bytes);
            continue;
        }
        arena.used_bytes += bytes;
        keep({block, bytes, arena.index + 1, true});
        each(block, bytes);
    }
}

void Jemalloc::walk(const Job &job, const Each &each) {
    arenas_.clear();
    heaps_.clear();
    largest_.clear();
    books_.clear();
    for (const Leaf &leaf : leaves_) note_books(leaf.at);
    each_extent(job, [&](const Extent &extent) {
        Arena &arena = arena_of(extent);
        note_books(extent.at);
        if (!heaps_.empty() && heaps_.back().second == extent.begin)
            heaps_.back().second += extent.bytes;
        else
            heaps_.emplace_back(extent.begin, extent.begin + extent.bytes);
        const uint64_t state = layout_->state_of(extent);
        if (state == RETAINED) {
            arena.retained_bytes += extent.bytes;
            return true;
        }
        arena.system_bytes += extent.bytes;
        arena.walked_bytes += extent.bytes;
        if (!state && extent.slab) {
            take_slab(extent, arena, each);
        } else if (!state && extent.kind < KINDS) {
            /* From 5.3.1 on it may be smaller than its class. */
            const uint64_t bytes = std::min(class_bytes(extent.kind), extent.bytes - (padded_ ? uint64_t{PAGE} : 0));
            arena.used_bytes += bytes;
            keep({extent.block, bytes, arena.index + 1, true});
            each(extent.block, bytes);
        } else {
            add_free(arena, extent.bytes);
            keep({extent.begin, extent.bytes, arena.index + 1, false});
        }
        return true;
    });
    /* From jemalloc's numbers to those of arenas(): not all may be there. */
    for (Chunk &chunk : largest_) {
        const auto arena = std::lower_bound(arenas_.begin(), arenas_.end(), chunk.arena - 1,
                                            [](const Arena &one, uint32_t other) { return one.index < other; });
        chunk.arena = static_cast<uint32_t>(arena - arenas_.begin()) + 1;
    }
}

/* ---- its own books ---- */

bool Jemalloc::add_books(uint64_t begin) {
    const uint64_t bytes = image_.word(begin), rest = image_.word(begin + BOOK_REST);
    if (!bytes || bytes % BOOK || bytes >> ADDRESS_BITS || rest < begin ||
        rest + image_.word(begin + BOOK_REST_BYTES) != begin + bytes)
        return false;
    const Range range(begin, begin + bytes);
    const auto place = std::lower_bound(books_.begin(), books_.end(), range);
    if (place == books_.end() || *place != range) books_.insert(place, range);
    return true;
}

/* What lies there is in memory that begins at a multiple of BOOK, and says so. */
void Jemalloc::note_books(uint64_t address) {
    const auto is_in = [address](const Range &range) { return range.first <= address && address < range.second; };
    const auto after = std::upper_bound(books_.begin(), books_.end(), Range(address, UINT64_MAX));
    if ((after != books_.begin() && is_in(*std::prev(after))) || books_.size() > BOOKS_MOST) return;
    uint64_t begin = address & ~uint64_t{BOOK - 1};
    for (uint64_t i = 0; i < BOOKS_BACK && begin; i++, begin -= BOOK) {
        if (!add_books(begin) || begin + image_.word(begin) <= address) continue;
        /* One that has no extent described in it, but arenas, is only known to the next one. */
        for (uint64_t other = image_.word(begin + BOOK_NEXT); other && other % BOOK == 0 && books_.size() < BOOKS_MOST;
             other = image_.word(other + BOOK_NEXT)) {
            const size_t known = books_.size();
            if (!add_books(other) || books_.size() == known) break;
        }
        return;
    }
}

/* ---- what it keeps for threads ---- */

/* Each class has a stack of blocks, and the stacks lie behind one another in a block of jemalloc's own: above the last
 * block of a stack stand those that were given to the program. Returns the words that it was; 0: it is none. */
size_t Jemalloc::find_stacks(const uint64_t *words, size_t count, const std::vector<Block> &blocks,
                             const Take &take) const {
    enum : size_t { STACK_WORDS = 3, LEAST = 8, BETWEEN = 64 };
    std::vector<Range> stacks; /* of each class, where its blocks are named */
    size_t own = blocks.size(), end = 0;
    uint64_t before = 0;
    for (size_t i = 0; i + STACK_WORDS <= count && stacks.size() < KINDS; i++) {
        uint64_t first = words[i], limit;
        if (layout_->counts) {
            limit = words[i + 2];
            first = limit - (words[i] >> 32) * WORD;
        } else {
            limit = first + ((words[i + 2] >> 32) - first) % (1 << 16);
        }
        if (stacks.empty()) {
            own = find_block(blocks, limit - WORD);
            if (own == blocks.size()) return 0;
            before = blocks[own].begin;
        }
        if (first % WORD == 0 && limit % WORD == 0 && before <= first && first <= limit &&
            limit <= blocks[own].begin + blocks[own].bytes) {
            stacks.emplace_back(first, limit);
            before = limit;
            i += STACK_WORDS - 1;
            end = i + 1;
        } else if (stacks.size() < LEAST || i > end + BETWEEN) { /* those of large classes may lie apart */
            break;
        }
    }
    if (stacks.size() < LEAST || !take(own, false)) return 0;
    for (size_t kind = 0; kind < stacks.size(); kind++) {
        for (uint64_t at = stacks[kind].first; at < stacks[kind].second; at += WORD) {
            const uint64_t address = image_.word(at);
            const size_t number = find_block(blocks, address);
            if (number < blocks.size() && blocks[number].begin == address && blocks[number].bytes == class_bytes(kind))
                take(number, true);
        }
    }
    return end;
}

void Jemalloc::find_cached(const Job &job, const std::vector<Block> &blocks, const Take &take) {
    std::vector<uint64_t> words(THREAD_BYTES / WORD);
    for (const Image::Registers &registers : image_.registers()) {
        job.check();
        const uint64_t end = registers.variables & ~(WORD - 1);
        const Image::Segment *segment = end < THREAD_BYTES ? nullptr : image_.segment_at(end - WORD);
        if (!segment) continue;
        const uint64_t begin = std::max(segment->begin, end - THREAD_BYTES);
        const size_t count = (end - begin) / WORD;
        if (!image_.read(begin, words.data(), count * WORD)) continue;
        for (size_t i = 0; i < count; i++) {
            const size_t taken = find_stacks(words.data() + i, count - i, blocks, take);
            if (taken) i += taken - 1;
        }
    }
}

} // namespace corefile
} // namespace heapline
