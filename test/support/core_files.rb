# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"

# Cores of real processes, and what `heapline core` says of them.
module CoreFiles
  HEAPLINE = [RbConfig.ruby, Heapline::TestHelper::EXE].freeze
  # In C: has plant(), a function of a thread, leave its pointers in no stack, as that thread's is given back.
  PLANTING = <<~C
    static void plant_apart(void) {
        pthread_attr_t attributes;
        pthread_t thread;
        void *stack = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, stack, 1 << 18)) abort();
        if (!pthread_create(&thread, &attributes, plant, NULL)) pthread_join(thread, NULL);
        munmap(stack, 1 << 18);
    }
  C

  def setup
    super
    skip "gdb is not installed: script/setup --develop" if system("gcore", out: File::NULL, err: File::NULL).nil?
  end

  # The process's core in the directory, by gcore.
  def gcore(pid, dir)
    system("gcore", "-o", File.join(dir, "core"), pid.to_s, out: File::NULL, err: File::NULL)
    File.join(dir, "core.#{pid}")
  end

  # A library of this source in C, libplanted.so.
  def planted(source, dir)
    File.write(path = File.join(dir, "planted.c"), source)
    library = File.join(dir, "libplanted.so")
    assert system("cc", "-O1", "-shared", "-fPIC", "-pthread", "-o", library, path, "-ldl")
    library
  end

  # What `heapline core WORDS` answers, which has to be whole.
  def core_json(*words)
    out, err, status = Open3.capture3(*HEAPLINE, "core", *words, "--json", "--top", "0")
    assert_equal ["", 0], [err, status.exitstatus], out[0, 300]
    JSON.parse(out)
  end
end
