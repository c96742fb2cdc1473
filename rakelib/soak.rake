# frozen_string_literal: true

desc "Everything at once for an hour (DURATION=seconds; SOAK_RUBY=words of another Ruby that runs the program): " \
     "memory, counts, files and processes as at its beginning; soak[240]: so many seconds"
task :soak, [:seconds] => :compile do |_, arguments|
  seconds = arguments[:seconds] || ENV.fetch("DURATION", "3600")
  Tasks::MinitestRun.new(["soak", arguments[:seconds]].compact.join(":"), ["test/soak/soak_test.rb"],
                         environment: { "DURATION" => seconds }).run.report
end
