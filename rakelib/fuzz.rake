# frozen_string_literal: true

desc "Fuzz every parser of foreign bytes for some seconds each: rake fuzz, fuzz[600]"
task :fuzz, [:seconds] do |_, arguments|
  Tasks::Fuzzing.new(Integer(arguments[:seconds] || 30)).run.report
end
