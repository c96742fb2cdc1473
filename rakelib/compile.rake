# frozen_string_literal: true

require "etc"

begin
  require "rake/extensiontask"
rescue LoadError
  abort "heapline's tasks need the gem rake-compiler: run script/setup once, then `bundle exec rake`."
end

# mkmf's Makefiles run one compiler after the other unless make is told.
ENV["MAKEFLAGS"] ||= "-j#{Etc.nprocessors}"

{ "libheapline" => "ext/heapline_core", "native" => "ext/heapline", "heap" => "ext/heapline_heap",
  "capture" => "ext/heapline_capture", "corefile" => "ext/heapline_corefile",
  "replayer" => "ext/heapline_replay" }.each do |name, dir|
  extension = Rake::ExtensionTask.new(name) do |task|
    task.ext_dir = dir
    task.lib_dir = "lib/heapline"
    task.source_pattern = "**/*.{c,h,cpp,hpp,map}"
  end

  # A source that came or went changes its folder: the Makefile, which lists the sources and holds what stands in
  # `depend`, is made anew.
  makefile = File.join(extension.tmp_dir, extension.platform, name, RUBY_VERSION, "Makefile")
  file makefile => Dir["#{dir}{,/*}/", "#{dir}/depend"]

  # Each layer comes by here, beside others whose processes load the libraries: what is as before is left alone, and
  # what is new takes its place in one step. `make install` takes it away and writes it anew each time.
  copy = Rake::Task["copy:#{name}:#{extension.platform}:#{RUBY_VERSION}"]
  copy.clear_actions.enhance do
    built = File.join(File.dirname(makefile), "#{name}.so")
    used = File.join(extension.lib_dir, "#{name}.so")
    next unless File.exist?(built) # what it needs is missing: extconf.rb said so
    next if File.exist?(used) && FileUtils.identical?(built, used)

    cp built, fresh = File.join(extension.lib_dir, "#{name}-#{Process.pid}.so")
    mv fresh, used
  end
end
