# frozen_string_literal: true

# What the Rake tasks share. Nothing here is part of the gem.
module Tasks
  ROOT = File.expand_path("..", __dir__)
  CORE = File.join(ROOT, "lib/heapline/libheapline.so")

  # Where things lie that are costly to make anew and belong to no checkout: gems, other Rubies, unpacked test suites.
  CACHE = File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "heapline")

  # Where it is installed, ccache stands before the compilers: the same sources are compiled for each Ruby and checkout.
  CCACHE = "/usr/lib/ccache"
  CCACHE_SETTINGS = { "CCACHE_DIR" => File.join(CACHE, "ccache"), "CCACHE_MAXSIZE" => "3G" }.freeze
  if File.directory?(CCACHE)
    ENV["PATH"] = [CCACHE, *(ENV.fetch("PATH").split(":") - [CCACHE])].join(":")
    CCACHE_SETTINGS.each { |name, value| ENV[name] ||= value }
  end
end

%w[
  shell assets plain_ruby tally complaints layers minitest_run vm_tests c_flags c_tests cxx_tests sanitizers gate
  assets_gate inputs_gate gates browser_tests figures_table help_examples help_gate docs_gate library_rooms_gate
  core_rooms_gate walks_gate symbols_gate extension_symbols_gate signatures_gate api_gate checks_page leak_tools
  leaks_comparison leak_gems bill_of_materials suite_outcome accounted recorded attached suite_comparison cruby_suite
  gem_home gem_suites fuzzing accuracy_page matrix/interpreter matrix/gem_files matrix/work_copy matrix/tarball_ruby
  matrix/debian_root matrix/aarch64_machine matrix/run builds/debian_source builds/build builds/run
].each { |name| require_relative "support/#{name}" }
