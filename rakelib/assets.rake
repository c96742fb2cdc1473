# frozen_string_literal: true

desc "Build the script and the style of the HTML report from assets/"
task :assets do
  Tasks::Assets.new.build(Tasks::Assets::BUNDLE)
rescue Tasks::Assets::Failure => e
  abort e.message
end
