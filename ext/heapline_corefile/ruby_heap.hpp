/* SPDX-License-Identifier: MIT */
/*
 * Ruby's objects and threads in a core, of any process, whatever its version: nothing of the VM is looked up by a
 * symbol or a version, what is looked for proves itself. (Ruby 3.1 to 4.1.)
 *
 * H1  A page of the heap leads to its description, which leads back to where its slots begin, and these fill the page.
 *     All pages are of the size that most places have.
 * H2  Where a class keeps its name is where most classes have a string that is a constant's name.
 * H3  A thread leads to its execution context, which leads back to it, and its frames lie in its own stack.
 * H4  No more memory is taken for it than for eight million blocks and a million classes; what is above is left out.
 */
#ifndef HEAPLINE_COREFILE_RUBY_HEAP_HPP
#define HEAPLINE_COREFILE_RUBY_HEAP_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../heapline_heap/job.hpp"
#include "allocator.hpp"
#include "image.hpp"
#include "libraries.hpp"

namespace heapline {
namespace corefile {

class RubyHeap {
  public:
    struct Class {
        std::string name; /* of the nearest class with one; "(IMEMO)" … of what has no class */
        uint64_t objects = 0, slot_bytes = 0;
        uint64_t block_bytes = 0; /* of the C blocks that its objects begin with a pointer to, each once */
    };
    /* Strings or arrays whose bytes lie in blocks of 2**power bytes up to twice that; IN_SLOT: in their own slot,
     * ELSEWHERE: in no block that is theirs alone (another object's, a library's, or the VM's own memory). */
    struct Size {
        enum : uint32_t { IN_SLOT = 64, ELSEWHERE = 65 };
        bool array;
        uint32_t power;
        uint64_t objects = 0, slot_bytes = 0, block_bytes = 0;
    };
    struct Frame {
        uint32_t thread; /* from 1 */
        std::string path, label;
        uint32_t line; /* 0: not known */
    };

    struct Page {
        uint64_t begin, slots; /* where it and its first slot lie */
        uint32_t slot_bytes, count;
    };
    using EachObject = std::function<void(uint64_t slot, uint64_t bytes, uint64_t flags, uint64_t klass)>;

    RubyHeap(Image &image, const Job &job, Allocators &allocators, Libraries &libraries);

    bool found() const {
        return !pages_.empty();
    }
    const std::vector<Class> &classes() const {
        return classes_;
    }
    /* Those that there are. */
    const std::vector<Size> &sizes() const {
        return sizes_;
    }
    /* The innermost first; frames of C are their callers'. */
    const std::vector<Frame> &frames() const {
        return frames_;
    }
    /* Of the arenas, what allocators keep in caches included. */
    uint64_t used_bytes() const {
        return used_bytes_;
    }
    uint64_t used_blocks() const {
        return used_blocks_;
    }

    /* By address. */
    const std::vector<Page> &pages() const {
        return pages_;
    }
    uint64_t page_bytes() const {
        return page_bytes_;
    }
    const std::vector<Block> &blocks() const {
        return blocks_;
    }
    const Page *page_of(uint64_t slot) const;
    bool is_slot(uint64_t address) const;
    /* nullptr: no object is there. */
    const char *type_name_at(uint64_t slot);
    static bool is_class(uint64_t flags);
    /* Of the nearest class with one. */
    std::string name_of(uint64_t klass);
    static const uint64_t TEXT_MOST = 512;
    /* Of a string of at most so many bytes; else empty. */
    std::string string_at(uint64_t value, uint64_t most = TEXT_MOST);
    void each_object(const Job &job, const EachObject &each);

    /* Of the threads' VM stacks what is not in use, by address: begin and end. */
    const std::vector<std::pair<uint64_t, uint64_t>> &unused_stacks() const {
        return unused_stacks_;
    }

    /* So many that some were not looked at: bytes of classes lack those. */
    bool left_out() const {
        return used_blocks_ > blocks_known_;
    }
    /* Gives back the memory that the blocks take: they are empty from now on. */
    void forget_blocks();
    bool forgotten() const {
        return blocks_.size() < blocks_known_;
    }

  private:
    /* From a class to its name: a word of it or of what a word of it leads to, or a value in a table of that. */
    struct Way {
        uint64_t place = 0, key = 0, outer = 0;
        size_t classes = 0; /* that have their name there */
    };

    void find_pages(const Job &job);
    bool read_page(uint64_t address, uint64_t page_bytes, Page &page);
    uint64_t type_at(uint64_t slot);
    std::string constant_at(uint64_t value);
    uint64_t table_of(uint64_t klass);
    uint64_t in_table(uint64_t table, uint64_t key);
    std::string name_by(const Way &way, uint64_t klass);
    void find_names(const std::vector<uint64_t> &classes);
    void find_blocks(const Job &job, Allocators &allocators);
    uint64_t claim(uint64_t address);
    void count(const Job &job);
    void count_size(uint64_t flags, uint64_t slot_bytes, uint64_t block_bytes);
    bool read_thread(uint64_t thread);
    size_t read_frames(uint64_t end, uint64_t frame, uint64_t frame_bytes, std::vector<Frame> &frames);
    uint32_t line_at(uint64_t body, uint64_t pc);
    uint32_t line_of(uint64_t insns, uint64_t position);

    Image &image_;
    Libraries &libraries_;
    bool guessing_ = false; /* is a text that cannot be read none that is missed? */
    uint64_t page_bytes_ = 0;
    std::vector<Page> pages_; /* by address */
    Way names_;
    std::unordered_map<uint64_t, std::string> known_; /* names of classes, by what name_of() went through */
    uint64_t super_ = 0;                              /* where a class has its superclass */
    std::vector<Block> blocks_;
    std::vector<bool> claimed_;
    uint64_t used_bytes_ = 0, used_blocks_ = 0, blocks_known_ = 0;
    std::vector<Class> classes_;
    std::vector<Size> sizes_;
    std::vector<uint64_t> data_; /* objects of T_DATA */
    std::vector<Frame> frames_;
    std::vector<std::pair<uint64_t, uint64_t>> unused_stacks_;
    uint32_t threads_ = 0;
};

} // namespace corefile
} // namespace heapline

#endif
