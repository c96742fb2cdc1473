# frozen_string_literal: true

namespace :leaks do
  desc "Compare heapline, Valgrind and LeakSanitizer on the corpus of lost blocks and write docs/leaks.md; " \
       "leaks:compare[quick] only checks heapline's answers"
  task :compare, [:how] => :compile do |_, arguments|
    if (reason = Tasks::LeakTools.unavailable)
      puts "leaks:compare: skipped, #{reason}"
    else
      comparison = Tasks::LeaksComparison.new(quick: arguments[:how] == "quick")
      arguments[:how] ? comparison.check.report : comparison.write
    end
  end
end
