# frozen_string_literal: true

require_relative "../lib/heapline/version"

PACKAGE = "pkg/heapline-#{Heapline::VERSION}.gem".freeze

desc "Build the gem into pkg/"
task :build do
  mkdir_p "pkg"
  sh RbConfig.ruby, "-S", "gem", "build", "heapline.gemspec", "-o", PACKAGE
end

desc "Build the gem and install it for this Ruby"
task install: :build do
  plain = Tasks::PlainRuby::ENVIRONMENT.except("GEM_PATH")
  sh plain, RbConfig.ruby, "-S", "gem", "install", "--local", "--no-document", PACKAGE
end
