# frozen_string_literal: true

namespace :test do
  desc "Unit tests of the Ruby parts"
  task unit: :compile do
    Tasks::MinitestRun.new("test:unit", Dir["test/unit/**/*_test.rb"]).run.report
  end

  desc "Tests with real processes under heapline; rake test:integration[odd], test:integration[even]: every other file"
  task :integration, [:half] => :compile do |_, arguments|
    files = Dir["test/integration/**/*_test.rb"]
    odd, even = files.partition.with_index { |_, index| index.even? }
    name = ["test:integration", arguments[:half]].compact.join(":")
    Tasks::MinitestRun.new(name, { nil => files, "odd" => odd, "even" => even }.fetch(arguments[:half])).run.report
  end

  desc "Programs whose every line is known, under a JIT: rake test:planted[yjit], test:planted[zjit]"
  task :planted, [:jit] => :compile do |_, arguments|
    Tasks::VmTests.planted(arguments[:jit]).report
  end

  desc "What rests on the VM's insides, and the unit tests of what asks it"
  task vm: :compile do
    Tasks::VmTests.all.report
  end

  desc "Of these what reads the VM's structs"
  task layout: :compile do
    Tasks::VmTests.layout.report
  end

  desc "Unit tests of the core in C and of the heap dumps in C++: rake test:c, test:c[trailer]"
  task :c, [:only] do |_, arguments|
    Tasks::CxxTests.with_c("test:c", [Tasks::CTests::PLAIN], arguments[:only]).report
  end

  desc "The same tests under the address, undefined-behaviour and thread sanitizers"
  task :sanitize, [:only] do |_, arguments|
    Tasks::CxxTests.with_c("test:sanitize", Tasks::Sanitizers::ALL, arguments[:only]).report
  end

  desc "Prove that each gate can fail"
  task gates: :compile do
    Tasks::MinitestRun.new("test:gates", Dir["test/gates/**/*_test.rb"]).run.report
  end

  desc "The HTML report in headless Chromium"
  task :browser do
    if (reason = Tasks::BrowserTests.unavailable)
      puts "test:browser: skipped, #{reason}"
    else
      Tasks::BrowserTests.run.report
    end
  end

  desc "Build the gem, install it into an empty GEM_HOME and use it from there"
  task :package do
    Tasks::MinitestRun.new("test:package", Dir["test/package/**/*_test.rb"]).run.report
  end

  desc "Run every benchmark once, small, and check what it prints"
  task bench: :compile do
    Tasks::MinitestRun.new("test:bench", Dir["test/bench/**/*_test.rb"]).run.report
  end
end

desc "All tests of this Ruby that need no other tool"
task test: ["test:c", "test:unit", "test:integration"]

desc "Measure what heapline costs beside other tools and write docs/overhead.md"
task bench: :compile do
  sh RbConfig.ruby, "bench/run.rb"
end

namespace :bench do
  desc "Measure what lines, tags, threads … cost by how many there are and write docs/scale.md"
  task cliffs: :compile do
    sh RbConfig.ruby, "bench/cliffs.rb", "--output", "docs/scale.md"
  end

  desc "Measure how fast heap dumps are read, beside heapy, sheap and heap-profiler"
  task heap: :compile do
    sh RbConfig.ruby, "bench/heap.rb"
  end

  desc "Measure how near replays are to programs, and compare allocators: writes docs/allocators.md"
  task replay: :compile do
    sh RbConfig.ruby, "bench/replay.rb"
  end

  desc "Measure how long a search for lost blocks makes a process of 1 GB wait"
  task leaks: :compile do
    sh RbConfig.ruby, "bench/leaks.rb"
  end

  desc "How long programs stand still when heapline attaches to them, and whether it always does"
  task attach: :compile do
    sh RbConfig.ruby, "bench/attach.rb"
  end

  desc "What heapline costs a request of a Rails application, as tables for 1, 5, 32 and 200 threads"
  task serving: :compile do
    sh RbConfig.ruby, "bench/serving.rb"
  end

  desc "What heapline costs programs that are not Ruby, beside heaptrack and Valgrind, as a table"
  task any: :compile do
    sh RbConfig.ruby, "bench/any.rb"
  end
end

desc "The tests as script/test runs them, or ci[all]: every test and gate; the last line is the total"
task :ci, [:what] do |_, arguments|
  exit Tasks::Layers.new(arguments[:what] == "all" ? Tasks::Layers::ALL : Tasks::Layers::QUICK).run
end
