# frozen_string_literal: true

desc "Fuzz every parser of foreign bytes for some seconds each, and every command that reads: rake fuzz, fuzz[600]"
task :fuzz, [:seconds] => :compile do |_, arguments|
  Tasks::Fuzzing.new(Integer(arguments[:seconds] || 30)).run.report
end
