# frozen_string_literal: true

namespace :leaks do
  desc "Compare heapline, Valgrind and LeakSanitizer on the corpus of lost blocks and write docs/leaks.md, " \
       "in so many rounds (3); leaks:compare[quick] only checks heapline's answers"
  task :compare, [:how] => :compile do |_, arguments|
    if (reason = Tasks::LeakTools.unavailable)
      puts "leaks:compare: skipped, #{reason}"
    else
      quick = arguments[:how] == "quick"
      comparison = Tasks::LeaksComparison.new(rounds: quick ? 1 : Integer(arguments[:how] || 3), quick: quick)
      quick ? comparison.check.report : comparison.write
    end
  end

  desc "Search released gems for lost blocks, one of them with a known leak, and write docs/leaks.md; " \
       "leaks:gems[quick] only checks those that are soon installed"
  task :gems, [:how] => :compile do |_, arguments|
    quick = arguments[:how] == "quick"
    gems = Tasks::LeakGems.new(quick ? Tasks::LeakGems::QUICK : Tasks::LeakGems::ALL)
    tally = gems.run
    gems.write unless quick
    tally.report
  end
end
