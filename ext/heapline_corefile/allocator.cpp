/* SPDX-License-Identifier: MIT */
#include "allocator.hpp"

#include <algorithm>

#include "glibc.hpp"
#include "jemalloc.hpp"

namespace heapline {
namespace corefile {

namespace {

constexpr size_t largest_most = 1000;
constexpr const char *others[] = {"/libjemalloc.so", "/libtcmalloc", "/libmimalloc"};

bool is_larger(const Allocator::Chunk &one, const Allocator::Chunk &other) {
    return one.bytes > other.bytes;
}

} // namespace

size_t find_block(const std::vector<Block> &blocks, uint64_t address) {
    auto after = std::upper_bound(blocks.begin(), blocks.end(), address,
                                  [](uint64_t one, const Block &other) { return one < other.begin; });
    if (after == blocks.begin()) return blocks.size();
    --after;
    return address - after->begin < after->bytes ? static_cast<size_t>(after - blocks.begin()) : blocks.size();
}

void Allocator::keep(const Chunk &chunk) {
    if (largest_.size() == largest_most) {
        if (!is_larger(chunk, largest_.front())) return;
        std::pop_heap(largest_.begin(), largest_.end(), is_larger);
        largest_.pop_back();
    }
    largest_.push_back(chunk);
    std::push_heap(largest_.begin(), largest_.end(), is_larger);
}

void Allocator::add_free(Arena &arena, uint64_t bytes) {
    arena.free_bytes += bytes;
    arena.free_chunks++;
    arena.largest_free = std::max(arena.largest_free, bytes);
}

Allocators::Allocators(Image &image, const Job &job) {
    auto glibc = std::make_unique<Glibc>(image);
    glibc_ = glibc.get();
    all_.push_back(std::move(glibc));
    for (auto &found : Jemalloc::find(image, job)) all_.push_back(std::move(found));
    if (has_jemalloc()) return;
    for (const Image::Mapping &mapping : image.mappings())
        for (const char *other : others)
            if (mapping.path.find(other) != std::string::npos) unread_ = mapping.path;
}

Allocators::~Allocators() = default;

bool Allocators::has_glibc() const {
    return !glibc_->arenas().empty();
}

void Allocators::walk(const Job &job, const Allocator::Each &each) {
    for (const auto &allocator : all_) allocator->walk(job, each);
}

/* Where all comes from jemalloc, such a block would only look like one. */
void Allocators::walk_mapped(const Job &job, const std::function<bool(uint64_t block, uint64_t bytes)> &is_block) {
    if (has_glibc() || !has_jemalloc()) glibc_->walk_mapped(job, heaps(), is_block);
}

void Allocators::find_cached(const Job &job, const std::vector<Block> &blocks, const Allocator::Take &take) {
    for (const auto &allocator : all_) allocator->find_cached(job, blocks, take);
}

std::vector<Allocator::Range> Allocators::heaps() const {
    std::vector<Allocator::Range> all;
    for (const auto &allocator : all_) all.insert(all.end(), allocator->heaps().begin(), allocator->heaps().end());
    std::sort(all.begin(), all.end());
    return all;
}

std::vector<Allocator::Range> Allocators::books() const {
    std::vector<Allocator::Range> all;
    for (const auto &allocator : all_)
        for (const Allocator::Range &range : allocator->books()) all.push_back(range);
    return all;
}

std::vector<Allocator::Chunk> Allocators::largest() const {
    std::vector<Allocator::Chunk> all;
    size_t before = 0;
    for (const auto &allocator : all_) {
        for (Allocator::Chunk chunk : allocator->largest()) {
            if (chunk.arena) chunk.arena += static_cast<uint32_t>(before);
            all.push_back(chunk);
        }
        before += allocator->arenas().size();
    }
    std::sort(all.begin(), all.end(), is_larger);
    if (all.size() > largest_most) all.resize(largest_most);
    return all;
}

} // namespace corefile
} // namespace heapline
