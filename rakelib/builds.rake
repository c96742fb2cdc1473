# frozen_string_literal: true

desc "Rubies built from source, with changed structs too: lines, objects exact or refused: rake builds, builds[3.4-lto]"
task :builds, [:name] => :compile do |_, arguments|
  Tasks::Builds::Run.new("builds", arguments[:name]).run.report
end
