/* SPDX-License-Identifier: MIT */
#include "references.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "empty_pages.hpp"

namespace heapline {
namespace corefile {

namespace {

enum : uint64_t {
    WORD = 8,
    CHUNK = 1 << 12,         /* bytes that are looked at at once */
    PIECE = 1 << 19,         /* a larger block is told in pieces: no line of the dump is without end */
    MARK_STACK_BYTES = 4008, /* of a part of the collector's stack: the next one, and objects */
    MARK_STACK_MOST = 4096,  /* what an allocator gives for it, with a trailer */
    RECENT = 1 << 10,
    SLOT_WORDS = 5,
    ARRAY_EMBEDDED = 1 << 13,
    STRING_POINTS = 1 << 13,
    FLAT_FLOAT = 4,
    T_STRING = 5,
    T_ARRAY = 7,
    T_IMEMO = 0x1a,
    KIND_SHIFT = 12, /* of what the VM made for itself */
    SCOPE = 1,
    METHOD_CACHE = 11, /* since Ruby 4.0 */
    TRANSIENT_BLOCK = 1 << 15,
    /* Begins what Ruby up to 3.2 keeps of an object outside malloc; then its bytes and the object. */
    TRANSIENT = 0xfeab,
};

/* What is written goes out by the megabyte. */
class Output {
  public:
    explicit Output(int fd) : fd_(fd) {}

    void put(const char *text) {
        bytes_ += text;
        if (bytes_.size() > 1 << 20) flush();
    }
    void put(const std::string &text) {
        put(text.c_str());
    }
    void number(uint64_t value) {
        put(std::to_string(value));
    }
    void address(uint64_t value) {
        char text[24];
        snprintf(text, sizeof(text), "\"0x%llx\"", static_cast<unsigned long long>(value));
        put(text);
    }
    /* What is not ASCII is told as a question mark: a core's bytes may be anything. */
    void text(const std::string &bytes) {
        std::string quoted = "\"";
        for (const char c : bytes) {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c < ' ' || c > '~' ? '?' : c;
        }
        put(quoted + "\"");
    }
    void flush() {
        for (size_t done = 0; done < bytes_.size();) {
            const ssize_t written = ::write(fd_, &bytes_[done], bytes_.size() - done);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) throw Failure(std::string("the objects cannot be written: ") + strerror(errno));
            done += static_cast<size_t>(written);
        }
        bytes_.clear();
    }

  private:
    int fd_;
    std::string bytes_;
};

/* The list of a line's references; what was there a moment ago is not said again. */
class List {
  public:
    explicit List(Output &output) : output_(output), recent_(RECENT) {}

    void begin() {
        output_.put(",\"references\":[");
        std::fill(recent_.begin(), recent_.end(), 0);
        first_ = true;
    }
    void add(uint64_t address) {
        uint64_t &known = recent_[(address >> 3 ^ address >> 13) % RECENT];
        if (known == address) return;
        known = address;
        if (!first_) output_.put(",");
        first_ = false;
        output_.address(address);
    }
    void end() {
        output_.put("]}\n");
    }

  private:
    Output &output_;
    std::vector<uint64_t> recent_;
    bool first_ = true;
};

} // namespace

References::References(Image &image, const Job &job, Allocators &allocators, RubyHeap &heap, Preload &preload)
    : image_(image), heap_(heap), preload_(preload), hidden_(heap.blocks().size()), mapped_(hidden_.size()) {
    const auto reach = [this](uint64_t begin, uint64_t end) {
        lowest_ = std::min(lowest_, begin);
        highest_ = std::max(highest_, end);
    };
    for (const RubyHeap::Page &page : heap.pages()) reach(page.begin, page.begin + heap.page_bytes());
    if (!heap.blocks().empty())
        reach(heap.blocks().front().begin, heap.blocks().back().begin + heap.blocks().back().bytes);
    find_cached(job, allocators);
    find_machinery(job);
    find_roots(allocators, job);
}

void References::leave_out(uint64_t address) {
    const size_t number = block_at(address);
    if (number < hidden_.size()) hidden_[number] = true;
}

/* The collector knows all objects; it holds none of them. */
void References::find_machinery(const Job &job) {
    for (const RubyHeap::Page &page : heap_.pages()) {
        leave_out(page.begin);
        leave_out(image_.word(page.begin)); /* its description */
    }
    for (size_t i = 0; i < hidden_.size(); i++) {
        job.check(i);
        if (!hidden_[i] && is_mark_stack(i)) hidden_[i] = true;
    }
}

bool References::is_mark_stack(size_t number) {
    const Block &block = heap_.blocks()[number];
    /* A trailer may stand behind it. */
    if (block.bytes < MARK_STACK_BYTES || block.bytes > MARK_STACK_MOST) return false;
    const uint64_t next = image_.word(block.begin);
    if (next) {
        const size_t other = block_at(next);
        if (other == hidden_.size() || heap_.blocks()[other].begin != next ||
            heap_.blocks()[other].bytes != block.bytes)
            return false;
    }
    for (uint64_t at = block.begin + WORD; at < block.begin + MARK_STACK_BYTES; at += WORD)
        if (!heap_.is_slot(image_.word(at))) return at > block.begin + MARK_STACK_BYTES / 2 && !image_.word(at);
    return true;
}

/* ---- what allocators keep for the next call ---- */

void References::find_cached(const Job &job, Allocators &allocators) {
    allocators.find_cached(job, heap_.blocks(), [this](size_t number, bool free) {
        if (hidden_[number]) return false;
        hidden_[number] = true;
        if (free) {
            cached_.blocks++;
            cached_.bytes += heap_.blocks()[number].bytes;
        }
        return true;
    });
    for (size_t i = 0; i < hidden_.size(); i++) {
        if (hidden_[i]) continue;
        used_.blocks++;
        used_.bytes += heap_.blocks()[i].bytes;
    }
}

/* ---- roots ---- */

std::string References::root_name(uint64_t begin) {
    /* What a library has beyond its file (bss) lies behind its mappings. */
    for (const uint64_t address : {begin, begin - 1})
        if (const Image::Mapping *mapping = image_.mapping_at(address)) return "globals of " + mapping->path;
    return "mapped memory";
}

/* What is writable and neither of Ruby's heap nor of malloc's: of the stacks of threads what is in use. */
void References::find_roots(const Allocators &allocators, const Job &job) {
    std::vector<Range> apart;
    std::map<std::string, Root> named;
    const std::vector<Allocator::Range> heaps = allocators.heaps();
    for (const Allocator::Range &books : allocators.books()) apart.push_back({books.first, books.second});
    find_transient(apart, job);
    for (const RubyHeap::Page &page : heap_.pages()) apart.push_back({page.begin, page.begin + heap_.page_bytes()});
    /* The address of its description stays a reference. */
    for (const uint64_t page : empty_pages(image_, heap_, job))
        apart.push_back({page + WORD, page + heap_.page_bytes()});
    for (const Allocator::Range &heap : heaps) apart.push_back({heap.first, heap.second});
    auto heap = heaps.begin();
    for (size_t i = 0; i < hidden_.size(); i++) {
        const Block &block = heap_.blocks()[i];
        while (heap != heaps.end() && heap->second <= block.begin) ++heap;
        mapped_[i] = heap == heaps.end() || block.begin < heap->first;
        if (mapped_[i]) apart.push_back({block.begin, block.begin + block.bytes});
    }
    std::unordered_set<uint64_t> stacks; /* two threads on one stack: the file says nonsense */
    for (size_t i = 0; i < image_.registers().size(); i++) {
        const Image::Registers &registers = image_.registers()[i];
        const std::string number = std::to_string(i + 1);
        roots_.push_back({"registers of thread " + number, {}, registers.words});
        const Image::Segment *segment = image_.segment_at(registers.stack);
        if (!segment || !segment->writable || registers.stack >= segment->end) continue;
        const Range stack = {registers.stack & ~(WORD - 1), segment->end};
        if (!stacks.insert(segment->begin).second) continue;
        apart.push_back({segment->begin, segment->end});
        roots_.push_back({"stack of thread " + number, {stack}, {}});
    }
    std::sort(apart.begin(), apart.end(), [](const Range &one, const Range &other) { return one.begin < other.begin; });
    auto next = apart.begin();
    size_t step = 0;
    for (const Image::Segment &segment : image_.segments()) {
        Root *root = nullptr;
        for (uint64_t at = segment.begin; segment.writable && at < segment.end;) {
            job.check(++step);
            while (next != apart.end() && next->end <= at) ++next;
            const uint64_t until = next == apart.end() ? segment.end : std::min(segment.end, next->begin);
            if (at < until) {
                if (!root) root = &named[root_name(segment.begin)];
                root->ranges.push_back({at, until});
            }
            at = next == apart.end() || next->begin >= segment.end ? segment.end : std::max(at, next->end);
        }
    }
    for (auto &pair : named) {
        pair.second.name = pair.first;
        roots_.push_back(std::move(pair.second));
    }
}

/* ---- from word to word ---- */

/* The object or block that it leads to, or 0. */
uint64_t References::target(uint64_t word) {
    if (word < lowest_ || word >= highest_) return 0;
    if (heap_.page_of(word)) return heap_.is_slot(word) && heap_.type_name_at(word) ? word : 0;
    const size_t number = block_at(word);
    return number == hidden_.size() || hidden_[number] ? 0 : heap_.blocks()[number].begin;
}

template <typename Each> void References::scan(Range range, const Job &job, const Each &each) {
    uint64_t words[CHUNK / WORD];
    const auto &unused = heap_.unused_stacks();
    auto gap = std::lower_bound(unused.begin(), unused.end(), range.begin,
                                [](const auto &one, uint64_t other) { return one.second <= other; });
    for (uint64_t at = range.begin; at < range.end;) {
        job.check();
        while (gap != unused.end() && gap->second <= at) ++gap;
        if (gap != unused.end() && gap->first <= at) {
            at = gap->second;
            continue;
        }
        const uint64_t behind = image_.behind_hole(at);
        if (behind > at) {
            at = behind;
            continue;
        }
        uint64_t until = std::min(range.end, (at & ~(CHUNK - 1)) + CHUNK);
        if (gap != unused.end()) until = std::min(until, gap->first);
        const uint64_t count = (until - at) / WORD;
        if (count && image_.read(at, words, count * WORD))
            for (uint64_t i = 0; i < count; i++)
                if (const uint64_t to = target(words[i])) each(to);
        at = until;
    }
}

template <typename Each> void References::scan_root(const Root &root, const Job &job, const Each &each) {
    for (const uint64_t word : root.words)
        if (const uint64_t to = target(word)) each(to);
    for (const Range &range : root.ranges) scan(range, job, each);
}

/* Where an object's elements lie in Ruby's own memory (up to 3.2), they lie behind a mark that leads back to it. */
References::Range References::transient_of(uint64_t slot, uint64_t word) {
    uint64_t head[2];
    if (word % WORD || word < 2 * WORD || !image_.read(word - 2 * WORD, head, sizeof(head)) || head[1] != slot ||
        (head[0] & 0xffff) != TRANSIENT)
        return {0, 0};
    const uint64_t bytes = head[0] >> 16 & 0xffff;
    return {word, word + std::max<uint64_t>(bytes, 2 * WORD) - 2 * WORD};
}

/* Blocks of that memory: also what objects have left lies there still. */
void References::find_transient(std::vector<Range> &found, const Job &job) {
    image_.each_piece(TRANSIENT_BLOCK, job, [&](const Image::Segment &, uint64_t at) {
        const uint64_t head = image_.word(at + 2 * WORD), bytes = head >> 16 & 0xffff;
        if ((head & 0xffff) == TRANSIENT && bytes > 2 * WORD && bytes % WORD == 0 && bytes < TRANSIENT_BLOCK)
            found.push_back({at, at + TRANSIENT_BLOCK});
    });
}

template <typename Each>
void References::scan_object(uint64_t slot, uint64_t bytes, uint64_t flags, const Job &job, const Each &each) {
    const Range range = words_of(slot, bytes, flags);
    scan(range, job, each);
    for (uint64_t at = range.begin; at < std::min(range.end, slot + SLOT_WORDS * WORD); at += WORD) {
        const Range elements = transient_of(slot, image_.word(at));
        if (elements.begin) scan(elements, job, each);
    }
}

/* The last word of a method's cache and of a scope is a number in any version, and since Ruby 4.0 what it does not need
 * of it is what another object left. Either looks like what it is: by the address of code, or of a class and a scope.
 */
bool References::ends_in_a_number(uint64_t slot, uint64_t flags) const {
    const uint64_t kind = flags >> KIND_SHIFT & 15, third = image_.word(slot + 2 * WORD),
                   fourth = image_.word(slot + 3 * WORD);
    if (kind == METHOD_CACHE) return image_.mapping_at(fourth);
    return kind == SCOPE && heap_.is_slot(third) && (!fourth || heap_.is_slot(fourth));
}

/* Of an object, without its class. */
References::Range References::words_of(uint64_t slot, uint64_t bytes, uint64_t flags) const {
    const uint64_t begin = slot + 2 * WORD, type = flags & 31;
    uint64_t words = bytes / WORD;
    if (type == T_STRING || type == T_ARRAY) words = SLOT_WORDS;
    if (type == T_STRING && !(flags & STRING_POINTS)) words = 0;
    if (type == T_ARRAY && flags & ARRAY_EMBEDDED) words = 2 + (flags >> 15 & 127);
    if (type == FLAT_FLOAT) words = 0;
    if (type == T_IMEMO && ends_in_a_number(slot, flags)) words = SLOT_WORDS - 1;
    return {begin, std::max(begin, slot + std::min(bytes, words * WORD))};
}

/* ---- what is told ---- */

void References::write(int fd, const Places &places, bool contents, const Job &job) {
    Output output(fd);
    List list(output);
    const auto add = [&list](uint64_t to) { list.add(to); };
    for (const Root &root : roots_) {
        output.put("{\"type\":\"ROOT\",\"root\":");
        output.text(root.name);
        list.begin();
        scan_root(root, job, add);
        list.end();
    }
    heap_.each_object(job, [&](uint64_t slot, uint64_t bytes, uint64_t flags, uint64_t klass) {
        output.put("{\"address\":");
        output.address(slot);
        output.put(",\"type\":\"");
        output.put(heap_.type_name_at(slot));
        output.put("\"");
        const uint64_t to = target(klass);
        const bool classed = to && heap_.page_of(to) && heap_.is_class(image_.word(to));
        if (classed) {
            output.put(",\"class\":");
            output.address(to);
        }
        if (heap_.is_class(flags)) {
            output.put(",\"name\":");
            output.text(heap_.name_of(slot));
        }
        if (contents && (flags & 31) == T_STRING) {
            output.put(",\"value\":");
            output.text(heap_.string_at(slot));
        }
        output.put(",\"memsize\":");
        output.number(bytes);
        list.begin();
        if (to && !classed) list.add(to);
        scan_object(slot, bytes, flags, job, add);
        list.end();
    });
    for (size_t i = 0; i < hidden_.size(); i++) {
        if (hidden_[i]) continue;
        const Block &block = heap_.blocks()[i];
        const uint64_t end = block.begin + block.bytes;
        const auto place = places.find(preload_.found() ? preload_.site_of(block.begin, block.bytes) : 0);
        for (uint64_t at = block.begin; at < end; at += PIECE) {
            const uint64_t until = std::min<uint64_t>(end, at + PIECE);
            output.put("{\"address\":");
            output.address(at);
            output.put(at == block.begin ? ",\"type\":\"BLOCK\",\"memsize\":" : ",\"type\":\"PIECE\",\"memsize\":");
            output.number(until - at);
            if (place != places.end()) {
                output.put(",\"file\":");
                output.text(place->second.path);
                output.put(",\"line\":");
                output.number(place->second.line);
            }
            list.begin();
            if (at == block.begin)
                for (uint64_t piece = at + PIECE; piece < end; piece += PIECE) list.add(piece);
            scan({at, until}, job, add);
            list.end();
        }
    }
    output.flush();
}

std::vector<uint64_t> References::blocks_of(const std::unordered_set<uint32_t> &sites, size_t most, const Job &job) {
    std::vector<uint64_t> found;
    for (size_t i = 0; i < hidden_.size() && found.size() < most; i++) {
        job.check(i);
        const Block &block = heap_.blocks()[i];
        if (!hidden_[i] && sites.count(preload_.site_of(block.begin, block.bytes))) found.push_back(block.begin);
    }
    return found;
}

uint64_t References::begin_of(uint64_t address) const {
    const size_t number = block_at(address);
    return number == hidden_.size() || hidden_[number] ? 0 : heap_.blocks()[number].begin;
}

References::Leaks References::leaks(const Job &job) {
    std::vector<bool> reached(hidden_);
    std::vector<uint32_t> waiting;
    const auto reach = [&](uint64_t to) {
        if (heap_.page_of(to)) return;
        const size_t number = block_at(to);
        if (reached[number]) return;
        reached[number] = true;
        waiting.push_back(static_cast<uint32_t>(number));
    };
    const auto drain = [&] {
        while (!waiting.empty()) {
            const Block &block = heap_.blocks()[waiting.back()];
            waiting.pop_back();
            scan({block.begin, block.begin + block.bytes}, job, reach);
        }
    };
    for (const Root &root : roots_) scan_root(root, job, reach);
    drain();
    heap_.each_object(job, [&](uint64_t slot, uint64_t bytes, uint64_t flags, uint64_t klass) {
        if (const uint64_t to = target(klass)) reach(to);
        scan_object(slot, bytes, flags, job, reach);
        drain();
    });
    Leaks found;
    for (size_t i = 0; i < reached.size(); i++) {
        if (reached[i]) continue;
        const Block &block = heap_.blocks()[i];
        const uint32_t site = preload_.found() ? preload_.site_of(block.begin, block.bytes) : 0;
        if (preload_.found() && mapped_[i] && !site) continue; /* it only looked like one */
        Sum &sum = found[{site, site ? 0 : block.bytes}];
        sum.blocks++;
        sum.bytes += block.bytes;
    }
    return found;
}

} // namespace corefile
} // namespace heapline
