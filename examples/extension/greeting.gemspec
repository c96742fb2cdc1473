# frozen_string_literal: true

# From its extensions heapline's task knows whose lost blocks are of interest.
Gem::Specification.new do |spec|
  spec.name = "greeting"
  spec.version = "0.1.0"
  spec.summary = "An extension with a leak, for heapline's README"
  spec.author = "The heapline authors"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"
  spec.files = Dir["ext/**/*.{rb,c}"]
  spec.extensions = ["ext/greeting/extconf.rb"]
end
