/* SPDX-License-Identifier: MIT */
/* What a capture says of itself. */
#include "binding.hpp"
#include "identity.hpp"

namespace heapline {
namespace capture {

namespace {

void put(VALUE hash, const char *key, VALUE value) {
    rb_hash_aset(hash, ID2SYM(rb_intern(key)), value);
}

/* header -> Hash */
VALUE header(VALUE self) {
    const Header &header = owner_of(self).reader->header();
    VALUE hash = rb_hash_new(), command = rb_ary_new(), options = rb_hash_new();
    for (const std::string &word : header.command) rb_ary_push(command, valid_text(word.data(), word.size()));
    for (const auto &[key, value] : header.options) rb_hash_aset(options, text(key), text(value));
    put(hash, "version", ULL2NUM(header.version));
    put(hash, "pid", ULL2NUM(header.pid));
    put(hash, "ruby", text(header.ruby));
    put(hash, "allocator", text(header.allocator));
    put(hash, "command", command);
    put(hash, "options", options);
    put(hash, "started_ns", ULL2NUM(header.started_ns));
    put(hash, "generation", ULL2NUM(header.generation));
    return hash;
}

/* totals -> Hash as the recorder wrote it, or nil where the recording was not brought to its end */
VALUE totals(VALUE self) {
    const Reader &reader = *owner_of(self).reader;
    if (!reader.finished()) return Qnil;
    VALUE hash = rb_hash_new();
    put(hash, "time_ns", ULL2NUM(reader.totals().time_ns));
    put(hash, "ending", text(reader.totals().ending));
    put(hash, "lost", ULL2NUM(reader.totals().lost));
    put(hash, "events", ULL2NUM(reader.totals().events));
    put(hash, "objects_until_ns", ULL2NUM(reader.totals().objects_until_ns));
    return hash;
}

/* events -> Integer: how many it promises */
VALUE events(VALUE self) {
    return ULL2NUM(owner_of(self).reader->events());
}

VALUE bytes(VALUE self) {
    return ULL2NUM(owner_of(self).reader->bytes_total());
}

/* problems -> Array of String */
VALUE problems(VALUE self) {
    VALUE all = rb_ary_new();
    for (const std::string &problem : owner_of(self).reader->problems()) rb_ary_push(all, text(problem));
    return all;
}

/* threads -> Array of [name or nil, thread id], the first of them number 1 */
VALUE threads(VALUE self) {
    const Names &names = owner_of(self).reader->names();
    VALUE rows = rb_ary_new();
    for (uint32_t number = 1; number < names.threads(); number++) {
        const Thread &thread = names.thread(number);
        rb_ary_push(rows, rb_ary_new_from_args(2, text(names.string(thread.name)), ULL2NUM(thread.tid)));
    }
    return rows;
}

/* tags -> Array of String, the first of them number 1 */
VALUE tags(VALUE self) {
    const Names &names = owner_of(self).reader->names();
    VALUE rows = rb_ary_new();
    for (uint32_t number = 1; number < names.tags(); number++) rb_ary_push(rows, text(names.tag(number)));
    return rows;
}

/* libraries -> Array of [path, which file it was]; see identity */
VALUE libraries(VALUE self) {
    const Names &names = owner_of(self).reader->names();
    VALUE rows = rb_ary_new();
    for (const Library &library : names.libraries())
        rb_ary_push(rows,
                    rb_ary_new_from_args(2, text(names.string(library.path)), text(names.string(library.identity))));
    return rows;
}

/* identity(path) -> String, which file it is now, or nil where there is none */
VALUE identity_now(VALUE self, VALUE path) {
    Owner &owner = owner_of(self);
    FilePathValue(path);
    const char *bytes = StringValueCStr(path);
    guarded([&] { owner.bytes = identity(bytes); });
    return text(owner.bytes);
}

/* classes -> Array of [name or nil, type of its objects], the first of them number 1 */
VALUE classes(VALUE self) {
    const Names &names = owner_of(self).reader->names();
    VALUE rows = rb_ary_new();
    for (uint32_t number = 1; number < names.classes(); number++) {
        const Class &klass = names.klass(number);
        rb_ary_push(rows, rb_ary_new_from_args(2, text(names.string(klass.name)), UINT2NUM(klass.type)));
    }
    return rows;
}

/* samples -> Array of [ns, RSS, bytes of Ruby's heap, GC.count] */
VALUE samples(VALUE self) {
    VALUE rows = rb_ary_new();
    for (const Sample &sample : owner_of(self).reader->samples())
        rb_ary_push(rows, rb_ary_new_from_args(4, ULL2NUM(sample.time_ns), ULL2NUM(sample.rss),
                                               ULL2NUM(sample.ruby_heap), ULL2NUM(sample.generation)));
    return rows;
}

} // namespace

void define_about(VALUE capture) {
    rb_define_method(capture, "header", RUBY_METHOD_FUNC(header), 0);
    rb_define_method(capture, "totals", RUBY_METHOD_FUNC(totals), 0);
    rb_define_method(capture, "events", RUBY_METHOD_FUNC(events), 0);
    rb_define_method(capture, "bytes", RUBY_METHOD_FUNC(bytes), 0);
    rb_define_method(capture, "problems", RUBY_METHOD_FUNC(problems), 0);
    rb_define_method(capture, "threads", RUBY_METHOD_FUNC(threads), 0);
    rb_define_method(capture, "tags", RUBY_METHOD_FUNC(tags), 0);
    rb_define_method(capture, "libraries", RUBY_METHOD_FUNC(libraries), 0);
    rb_define_method(capture, "identity", RUBY_METHOD_FUNC(identity_now), 1);
    rb_define_method(capture, "classes", RUBY_METHOD_FUNC(classes), 0);
    rb_define_method(capture, "samples", RUBY_METHOD_FUNC(samples), 0);
}

} // namespace capture
} // namespace heapline
