# frozen_string_literal: true

require_relative "lib/heapline/version"

Gem::Specification.new do |spec|
  spec.name = "heapline"
  spec.version = Heapline::VERSION
  spec.summary = "Which line of Ruby holds the memory: every malloc counted, exactly and almost free"
  spec.description = "heapline attributes every malloc of a Ruby process, the VM's and its C extensions', to the " \
                     "Ruby file and line that asked for it. The counts are exact, cheap enough for production, and " \
                     "outlive the process."
  spec.authors = ["The heapline authors"]
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # Globs and not git: the gem also builds from an unpacked archive. test/package compares them with what is tracked.
  spec.files = Dir.chdir(__dir__) do
    Dir["exe/*", "lib/**/*", "ext/**/{*.{c,h,cpp,hpp,rb,map},depend}", "sig/**/*.rbs", "examples/**/*", "docs/*.md",
        "man/*", "LICENSE", "README.md", "CHANGELOG.md"].select { |path| File.file?(path) && !path.end_with?(".so") }
  end
  spec.bindir = "exe"
  spec.executables = ["heapline"]
  spec.extensions = %w[heapline_core heapline heapline_heap heapline_capture heapline_corefile
                       heapline_replay].map do |name|
    "ext/#{name}/extconf.rb"
  end
end
