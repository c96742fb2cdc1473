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
  "capture" => "ext/heapline_capture", "replayer" => "ext/heapline_replay" }.each do |name, dir|
  extension = Rake::ExtensionTask.new(name) do |task|
    task.ext_dir = dir
    task.lib_dir = "lib/heapline"
    task.source_pattern = "*.{c,h,cpp,hpp,map}"
  end

  # A source that came or went changes its folder: the Makefile, which lists the sources, is made anew.
  file File.join(extension.tmp_dir, extension.platform, name, RUBY_VERSION, "Makefile") => dir
end
