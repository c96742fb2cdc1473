/* SPDX-License-Identifier: MIT */
#include "waiting.hpp"

#include <pthread.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "source.hpp"

namespace heapline {

namespace {

const auto STEP = std::chrono::milliseconds(50);

class Computation {
  public:
    explicit Computation(const std::function<void(const Job &)> &compute) : compute_(compute) {}

    /* Threads inherit the mask, so those that this one starts take no signal either. */
    void start() {
        sigset_t all, former;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &former);
        try {
            thread_ = std::thread([this] { run(); });
        } catch (const std::system_error &) {
            outcome.failure = "no thread could be started";
            done_ = true;
        }
        pthread_sigmask(SIG_SETMASK, &former, nullptr);
    }

    /* For a while, or until it is done or somebody wants to know how far it is. */
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait_for(lock, STEP, [this] { return done_ || woken_; });
        woken_ = false;
    }

    void wake() {
        std::lock_guard<std::mutex> lock(mutex_);
        woken_ = true;
        changed_.notify_all();
    }

    bool done() {
        std::lock_guard<std::mutex> lock(mutex_);
        return done_;
    }

    void finish() {
        if (thread_.joinable()) thread_.join();
    }

    Job job;
    Outcome outcome;

  private:
    void run() {
        try {
            compute_(job);
        } catch (const Cancelled &) {
            outcome.failure = "it was interrupted";
        } catch (const std::bad_alloc &) {
            outcome.no_memory = true;
        } catch (const std::exception &error) {
            outcome.failure = error.what();
        }
        std::lock_guard<std::mutex> lock(mutex_);
        done_ = true;
        changed_.notify_all();
    }

    const std::function<void(const Job &)> &compute_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false, woken_ = false;
};

void *wait_without_gvl(void *computation) {
    static_cast<Computation *>(computation)->wait();
    return nullptr;
}

void wake(void *computation) {
    static_cast<Computation *>(computation)->wake();
}

VALUE look_around(VALUE progress) {
    rb_thread_check_ints();
    (*reinterpret_cast<const std::function<void()> *>(progress))();
    return Qnil;
}

} // namespace

Outcome wait_for(const std::function<void(const Job &)> &compute, const std::function<void()> &progress) {
    Computation computation(compute);
    int interrupted = 0;
    computation.start();
    while (!computation.done() && !interrupted) {
        rb_thread_call_without_gvl2(wait_without_gvl, &computation, wake, &computation);
        rb_protect(look_around, reinterpret_cast<VALUE>(&progress), &interrupted);
    }
    if (interrupted) computation.job.cancel();
    computation.finish();
    computation.outcome.interrupted = interrupted;
    return computation.outcome;
}

} // namespace heapline
