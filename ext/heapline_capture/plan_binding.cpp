/* SPDX-License-Identifier: MIT */
/* Heapline::Native.write_plan. */
#include "plan_binding.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../heapline_heap/waiting.hpp"
#include "planning.hpp"

namespace heapline {
namespace capture {

namespace {

/* What a call owns while Ruby runs: no exception of Ruby's may pass a frame that owns anything. */
struct Work {
    std::string path, failure;
    std::vector<std::string> problems;
    uint64_t lost = 0;                       /* events */
    std::atomic<uint64_t> done{0}, total{0}; /* bytes */
};

void plan_free(void *work) {
    delete static_cast<Work *>(work);
}

const rb_data_type_t work_type = {
    "Heapline::Native plan", {nullptr, plan_free, nullptr, nullptr, {}}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY};

/* What a capture without any call says; of one that was cut also why. */
std::string nothing(const Work &work) {
    return work.path + " has no allocation" +
           (work.problems.empty() ? "" : " that can be read: " + work.problems.back());
}

void compute(Work &work, int fd, const Job &job) {
    Reader reader(work.path);
    Plan plan;
    work.total = reader.bytes_total();
    work.lost = make_plan(reader, plan, job, work.done);
    work.problems = reader.problems();
    if (!plan.header().calls) throw std::runtime_error(nothing(work));
    plan.write(fd);
}

void tell(const Work &work) {
    if (work.total) rb_yield_values(2, ULL2NUM(work.done.load()), ULL2NUM(work.total.load()));
}

Work *new_work(const char *path) {
    try {
        Work *work = new Work;
        work->path = path;
        return work;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

/* Array of String: what of the capture could not be read. */
VALUE problems_of(const Work &work) {
    VALUE problems = rb_ary_new();
    for (const std::string &problem : work.problems)
        rb_ary_push(problems, rb_utf8_str_new(problem.data(), static_cast<long>(problem.size())));
    return problems;
}

/* write_plan(path of a capture, descriptor of an empty file) { |bytes read, bytes in all| } -> [Array of String,
 * what could not be read; how many events were lost while it was recorded]. Raises Heapline::Error. */
VALUE write_plan(VALUE, VALUE path, VALUE descriptor) {
    FilePathValue(path);
    const int fd = NUM2INT(descriptor);
    VALUE owner = TypedData_Wrap_Struct(0, &work_type, nullptr);
    Work *work = new_work(StringValueCStr(path));
    if (!work) rb_memerror();
    DATA_PTR(owner) = work;
    const bool yields = rb_block_given_p();
    int interrupted = 0;
    bool no_memory = false;
    {
        Outcome outcome;
        try {
            outcome = wait_for([=](const Job &job) { compute(*work, fd, job); },
                               [=] {
                                   if (yields) tell(*work);
                               });
        } catch (const std::bad_alloc &) {
            outcome.no_memory = true;
        }
        interrupted = outcome.interrupted;
        no_memory = outcome.no_memory;
        work->failure.swap(outcome.failure);
    }
    if (interrupted) rb_jump_tag(interrupted);
    VALUE error = rb_path2class("Heapline::Error");
    if (no_memory) rb_raise(error, "there is not enough memory for the plan of this capture");
    if (!work->failure.empty()) rb_raise(error, "%s", work->failure.c_str());
    VALUE answer = rb_assoc_new(problems_of(*work), ULL2NUM(work->lost));
    RB_GC_GUARD(owner);
    RB_GC_GUARD(path);
    return answer;
}

} // namespace

void define_plan(VALUE native) {
    rb_define_singleton_method(native, "write_plan", RUBY_METHOD_FUNC(write_plan), 2);
}

} // namespace capture
} // namespace heapline
