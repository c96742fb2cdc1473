/* SPDX-License-Identifier: MIT */
/* Heapline::Native::CoreFile. By rule B2 (raising.hpp) what Ruby objects are made of is owned by it. */
#include <memory>

#include "../heapline_heap/computing.hpp"
#include "../heapline_heap/raising.hpp"
#include "allocator.hpp"
#include "image.hpp"
#include "libraries.hpp"
#include "preload.hpp"
#include "references.hpp"
#include "ruby_heap.hpp"

namespace heapline {
namespace corefile {

namespace {

struct Owner {
    std::string path;
    Libraries::Search search;
    std::unique_ptr<Image> image;
    std::unique_ptr<Libraries> libraries;
    std::unique_ptr<Allocators> allocators;
    std::unique_ptr<Preload> preload;
    std::unique_ptr<RubyHeap> heap; /* where heapline was not there */
    int kept_flight = -1;
    References::Places places;          /* of write_heap */
    std::unordered_set<uint32_t> sites; /* of block_addresses */
    std::vector<uint64_t> blocks;
    References::Leaks leaks;
    References::Sum used, cached;
    std::string library; /* of names_file */
    int names_file = -1;
    Busy work;
};

void owner_free(void *owner) {
    delete static_cast<Owner *>(owner);
}

const rb_data_type_t owner_type = {"Heapline::Native::CoreFile",
                                   {nullptr, owner_free, nullptr, nullptr, {}},
                                   nullptr,
                                   nullptr,
                                   RUBY_TYPED_FREE_IMMEDIATELY};

VALUE allocate(VALUE klass) {
    VALUE self = TypedData_Wrap_Struct(klass, &owner_type, nullptr);
    Owner *owner = nullptr;
    guarded([&] { owner = new Owner; });
    DATA_PTR(self) = owner;
    return self;
}

Owner &owner_of(VALUE self) {
    Owner &owner = *static_cast<Owner *>(rb_check_typeddata(self, &owner_type));
    if (owner.work.busy) rb_raise(error_class, "the core is being read by another thread");
    return owner;
}

Owner &read_owner(VALUE self) {
    Owner &owner = owner_of(self);
    if (!owner.preload) raise_failure("the core was not read");
    return owner;
}

/* CoreFile.new(path, root = nil, debuginfod = false); nothing is read yet. root: where its libraries are looked for,
 * too, or nil; debuginfod: are servers asked for them? */
VALUE initialize(int count, VALUE *arguments, VALUE self) {
    Owner &owner = owner_of(self);
    VALUE path, root, debuginfod;
    rb_scan_args(count, arguments, "12", &path, &root, &debuginfod);
    FilePathValue(path);
    if (!NIL_P(root)) FilePathValue(root);
    const char *bytes = StringValueCStr(path), *below = NIL_P(root) ? "" : StringValueCStr(root);
    guarded([&] {
        owner.path = bytes;
        owner.search = {below, RTEST(debuginfod) != 0};
    });
    return self;
}

/* read -> self. Raises Heapline::Error with what is wrong. */
VALUE read_core(VALUE self) {
    Owner &owner = owner_of(self);
    Owner *at = &owner;
    owner.preload.reset();
    compute(
        self, owner.work, "there is not enough memory to read the core", [] { return rb_ary_new(); },
        [at](const Job &job) {
            auto image = std::make_unique<Image>(at->path, job);
            auto libraries = std::make_unique<Libraries>(*image, at->search);
            libraries->under(&job);
            auto allocators = std::make_unique<Allocators>(*image, job);
            auto preload = std::make_unique<Preload>(*image);
            if (preload->found()) preload->add_up(job, *allocators);
            std::unique_ptr<RubyHeap> heap;
            if (!preload->found()) heap = std::make_unique<RubyHeap>(*image, job, *allocators, *libraries);
            at->heap = std::move(heap);
            at->kept_flight = preload->kept_flight(job);
            libraries->under(nullptr);
            at->libraries = std::move(libraries);
            at->image = std::move(image);
            at->allocators = std::move(allocators);
            at->preload = std::move(preload);
        });
    return self;
}

void put(VALUE hash, const char *key, VALUE value) {
    rb_hash_aset(hash, ID2SYM(rb_intern(key)), value);
}

/* facts -> Hash; flight: nil without heapline's mark or where it had no file; kept_flight: a descriptor, which belongs
 * to the core, or nil. */
VALUE facts(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE hash = rb_hash_new();
    put(hash, "pid", UINT2NUM(owner.image->pid()));
    put(hash, "threads", UINT2NUM(owner.image->threads()));
    put(hash, "command", text(owner.image->command()));
    put(hash, "bytes", ULL2NUM(owner.image->file_bytes()));
    put(hash, "missing_bytes", ULL2NUM(owner.image->missing_bytes()));
    put(hash, "preloaded", owner.preload->found() ? Qtrue : Qfalse);
    put(hash, "ruby", owner.heap && owner.heap->found() ? Qtrue : Qfalse);
    put(hash, "used_bytes", owner.heap ? ULL2NUM(owner.heap->used_bytes()) : Qnil);
    put(hash, "used_blocks", owner.heap ? ULL2NUM(owner.heap->used_blocks()) : Qnil);
    put(hash, "left_out", owner.heap && owner.heap->left_out() ? Qtrue : Qfalse);
    put(hash, "blocks",
        (owner.preload->over_glibc() ? owner.allocators->has_glibc() : owner.allocators->has_jemalloc()) ? Qtrue
                                                                                                         : Qfalse);
    put(hash, "unread", text(owner.allocators->unread()));
    put(hash, "problem", text(owner.image->problem()));
    put(hash, "flight", text(owner.preload->flight()));
    put(hash, "start_ticks", ULL2NUM(owner.preload->start_ticks()));
    put(hash, "kept_flight", owner.kept_flight < 0 ? Qnil : INT2NUM(owner.kept_flight));
    return hash;
}

/* live_rows -> Array of [site, blocks, bytes] */
VALUE live_rows(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new();
    for (const Preload::Live &live : owner.preload->live())
        rb_ary_push(rows, rb_ary_new_from_args(3, UINT2NUM(live.site), ULL2NUM(live.blocks), ULL2NUM(live.bytes)));
    return rows;
}

/* arena_rows -> Array of [allocator, address or nil, its number there or nil, bytes from the kernel, bytes that were
 * found, bytes used, free in chunks, of the top chunk, addresses whose memory was given back, free chunks, the largest
 * of them] */
VALUE arena_rows(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new();
    for (const auto &allocator : owner.allocators->all())
        for (const Allocator::Arena &arena : allocator->arenas())
            rb_ary_push(rows, rb_ary_new_from_args(11, rb_utf8_str_new_cstr(allocator->name()),
                                                   arena.address ? ULL2NUM(arena.address) : Qnil,
                                                   arena.address ? Qnil : UINT2NUM(arena.index),
                                                   ULL2NUM(arena.system_bytes), ULL2NUM(arena.walked_bytes),
                                                   ULL2NUM(arena.used_bytes), ULL2NUM(arena.free_bytes),
                                                   ULL2NUM(arena.top_bytes), ULL2NUM(arena.retained_bytes),
                                                   ULL2NUM(arena.free_chunks), ULL2NUM(arena.largest_free)));
    return rows;
}

/* chunk_rows -> Array of [address, bytes, number of the arena or nil, used, site or 0]: the largest */
VALUE chunk_rows(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new();
    for (const Allocator::Chunk &chunk : owner.allocators->largest())
        rb_ary_push(rows, rb_ary_new_from_args(5, ULL2NUM(chunk.block), ULL2NUM(chunk.bytes),
                                               chunk.arena ? UINT2NUM(chunk.arena) : Qnil, chunk.used ? Qtrue : Qfalse,
                                               UINT2NUM(owner.preload->site_of(chunk))));
    return rows;
}

/* Who leads to whom; Ruby's heap is looked for where it was not. */
template <typename Body> void with_references(VALUE self, const Body &body) {
    read_owner(self);
    Owner *at = &owner_of(self);
    compute(
        self, at->work, "there is not enough memory to follow what is in the core", [] { return rb_ary_new(); },
        [at, body](const Job &job) {
            at->libraries->under(&job);
            if (!at->heap || at->heap->forgotten())
                at->heap = std::make_unique<RubyHeap>(*at->image, job, *at->allocators, *at->libraries);
            References references(*at->image, job, *at->allocators, *at->heap, *at->preload);
            body(references, job);
            at->libraries->under(nullptr);
        });
}

/* write_heap(fd, places, contents) -> self. All objects and blocks, as ObjectSpace.dump_all has objects. places: Array
 * of [site, path, line]; contents: also what is in strings. */
VALUE write_heap(VALUE self, VALUE descriptor, VALUE places, VALUE contents) {
    const int fd = NUM2INT(descriptor);
    const bool told = RTEST(contents);
    Check_Type(places, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(places); i++) {
        VALUE row = rb_ary_entry(places, i), path;
        Check_Type(row, T_ARRAY);
        const uint32_t site = NUM2UINT(rb_ary_entry(row, 0)), line = NUM2UINT(rb_ary_entry(row, 2));
        path = rb_ary_entry(row, 1);
        const char *bytes = StringValueCStr(path);
        guarded([&] { owner_of(self).places[site] = {bytes, line}; });
    }
    const References::Places *known = &owner_of(self).places;
    with_references(self, [=](References &references, const Job &job) { references.write(fd, *known, told, job); });
    return self;
}

/* forget -> self. Gives the memory back that was taken to follow what is in the core; who asks for more of it reads it
 * once more. */
VALUE forget(VALUE self) {
    const Owner &owner = read_owner(self);
    guarded([&] {
        owner.image->forget();
        if (owner.heap) owner.heap->forget_blocks();
    });
    return self;
}

/* block_addresses(sites, limit) -> Array of the addresses of blocks that were asked for there */
VALUE block_addresses(VALUE self, VALUE sites, VALUE limit) {
    Owner *at = &owner_of(self);
    const size_t most = NUM2SIZET(limit);
    Check_Type(sites, T_ARRAY);
    at->sites.clear();
    for (long i = 0; i < RARRAY_LEN(sites); i++) {
        const uint32_t site = NUM2UINT(rb_ary_entry(sites, i));
        guarded([&] { at->sites.insert(site); });
    }
    with_references(self, [at, most](References &references, const Job &job) {
        at->blocks = references.blocks_of(at->sites, most, job);
    });
    VALUE rows = rb_ary_new();
    for (const uint64_t block : at->blocks) rb_ary_push(rows, ULL2NUM(block));
    return rows;
}

/* block_at(address) -> where the block begins in which it lies, or 0 */
VALUE block_at(VALUE self, VALUE address) {
    Owner *at = &owner_of(self);
    const uint64_t word = NUM2ULL(address);
    with_references(self,
                    [at, word](References &references, const Job &) { at->blocks = {references.begin_of(word)}; });
    return ULL2NUM(at->blocks.front());
}

/* leak_rows -> [[used blocks, bytes], [cached blocks, bytes], Array of [site, bytes of each or 0, blocks, bytes]] */
VALUE leak_rows(VALUE self) {
    Owner *at = &owner_of(self);
    with_references(self, [at](References &references, const Job &job) {
        at->leaks = references.leaks(job);
        at->used = references.used();
        at->cached = references.cached();
    });
    VALUE rows = rb_ary_new();
    for (const auto &[key, sum] : at->leaks)
        rb_ary_push(rows, rb_ary_new_from_args(4, UINT2NUM(key.first), ULL2NUM(key.second), ULL2NUM(sum.blocks),
                                               ULL2NUM(sum.bytes)));
    return rb_ary_new_from_args(3, rb_ary_new_from_args(2, ULL2NUM(at->used.blocks), ULL2NUM(at->used.bytes)),
                                rb_ary_new_from_args(2, ULL2NUM(at->cached.blocks), ULL2NUM(at->cached.bytes)), rows);
}

/* names_file(library) -> the descriptor of the file that has the names of a library's functions, which belongs to the
 * core, or nil */
VALUE names_file(VALUE self, VALUE library) {
    read_owner(self);
    Owner *at = &owner_of(self);
    const char *path = StringValueCStr(library);
    guarded([&] { at->library = path; });
    compute(
        self, at->work, "there is not enough memory to look for libraries", [] { return rb_ary_new(); },
        [at](const Job &job) {
            at->libraries->under(&job);
            at->names_file = at->libraries->named(at->library);
            at->libraries->under(nullptr);
        });
    return at->names_file < 0 ? Qnil : INT2NUM(at->names_file);
}

/* library_problems -> Array of String: which libraries were needed and not found */
VALUE library_problems(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new();
    for (const std::string &problem : owner.libraries->problems()) rb_ary_push(rows, text(problem));
    return rows;
}

/* class_rows -> Array of [name, objects, bytes of their slots, bytes of C blocks] */
VALUE class_rows(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new();
    if (!owner.heap) return rows;
    for (const RubyHeap::Class &row : owner.heap->classes())
        rb_ary_push(rows, rb_ary_new_from_args(4, text(row.name), ULL2NUM(row.objects), ULL2NUM(row.slot_bytes),
                                               ULL2NUM(row.block_bytes)));
    return rows;
}

/* size_rows -> Array of ["String" or "Array", :slot, :elsewhere or the least bytes of a block, objects, bytes of their
 * slots, of their blocks] */
VALUE size_rows(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new(), slot = ID2SYM(rb_intern("slot")), elsewhere = ID2SYM(rb_intern("elsewhere"));
    if (!owner.heap) return rows;
    for (const RubyHeap::Size &row : owner.heap->sizes()) {
        VALUE place = row.power == RubyHeap::Size::IN_SLOT     ? slot
                      : row.power == RubyHeap::Size::ELSEWHERE ? elsewhere
                                                               : ULL2NUM(uint64_t{1} << row.power);
        rb_ary_push(rows,
                    rb_ary_new_from_args(5, rb_utf8_str_new_cstr(row.array ? "Array" : "String"), place,
                                         ULL2NUM(row.objects), ULL2NUM(row.slot_bytes), ULL2NUM(row.block_bytes)));
    }
    return rows;
}

/* frame_rows -> Array of [thread, path, line, label or nil], of each thread the innermost first */
VALUE frame_rows(VALUE self) {
    const Owner &owner = read_owner(self);
    VALUE rows = rb_ary_new();
    if (!owner.heap) return rows;
    for (const RubyHeap::Frame &row : owner.heap->frames())
        rb_ary_push(rows,
                    rb_ary_new_from_args(4, UINT2NUM(row.thread), text(row.path), UINT2NUM(row.line), text(row.label)));
    return rows;
}

} // namespace

} // namespace corefile
} // namespace heapline

extern "C" {
RUBY_FUNC_EXPORTED void Init_corefile(void);
}

void Init_corefile(void) {
    using namespace heapline::corefile;
    VALUE native = rb_define_module_under(heapline::begin_raising(), "Native");
    VALUE core = rb_define_class_under(native, "CoreFile", rb_cObject);
    rb_define_alloc_func(core, allocate);
    rb_define_method(core, "initialize", RUBY_METHOD_FUNC(initialize), -1);
    rb_define_method(core, "read", RUBY_METHOD_FUNC(read_core), 0);
    rb_define_method(core, "facts", RUBY_METHOD_FUNC(facts), 0);
    rb_define_method(core, "live_rows", RUBY_METHOD_FUNC(live_rows), 0);
    rb_define_method(core, "class_rows", RUBY_METHOD_FUNC(class_rows), 0);
    rb_define_method(core, "frame_rows", RUBY_METHOD_FUNC(frame_rows), 0);
    rb_define_method(core, "write_heap", RUBY_METHOD_FUNC(write_heap), 3);
    rb_define_method(core, "forget", RUBY_METHOD_FUNC(forget), 0);
    rb_define_method(core, "block_addresses", RUBY_METHOD_FUNC(block_addresses), 2);
    rb_define_method(core, "block_at", RUBY_METHOD_FUNC(block_at), 1);
    rb_define_method(core, "leak_rows", RUBY_METHOD_FUNC(leak_rows), 0);
    rb_define_method(core, "names_file", RUBY_METHOD_FUNC(names_file), 1);
    rb_define_method(core, "library_problems", RUBY_METHOD_FUNC(library_problems), 0);
    rb_define_method(core, "arena_rows", RUBY_METHOD_FUNC(arena_rows), 0);
    rb_define_method(core, "chunk_rows", RUBY_METHOD_FUNC(chunk_rows), 0);
    rb_define_method(core, "size_rows", RUBY_METHOD_FUNC(size_rows), 0);
}
