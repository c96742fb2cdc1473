# frozen_string_literal: true

desc "Measure the verdicts of heapline growth on simulated logs and write the tables of docs/accuracy.md"
task accuracy: :compile do
  Tasks::AccuracyPage.new.write
end
