# frozen_string_literal: true

# The preload core, lib/heapline/libheapline.so. mkmf builds Ruby extensions; this is none: it must load into programs
# that are not Ruby, so everything that mkmf adds for Ruby is taken away again and an undefined symbol is an error.
begin
  require_relative "../../lib/heapline/errors"
rescue LoadError => e # no CRuby; others have no mkmf, or one that says nothing
  abort e.message
end
require "mkmf"

unless RUBY_PLATFORM.include?("linux")
  abort "heapline runs on Linux only: its core is preloaded by the dynamic linker of Linux."
end

$LIBRUBYARG = $LIBRUBYARG_SHARED = $LIBRUBYARG_STATIC = ""
$LIBS = "-ldl -lpthread"
$libs = ""

$warnflags = "-Wall -Wextra"
$CFLAGS = "-std=gnu11 -O2 -g -fPIC -fvisibility=hidden -ftls-model=initial-exec -fdata-sections"
$CPPFLAGS = "#{$CPPFLAGS} -D_GNU_SOURCE -DHL_RUBY_VERSION='\"#{RUBY_VERSION[/\A\d+\.\d+/]}\"'"
$LDFLAGS = ""
$DLDFLAGS = "-Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,--as-needed"

# Data by alignment (HL_PAGE_ALIGNED): GNU's linker and LLVM's know how, gold does not.
by_alignment = "-Wl,--sort-section=alignment"
$DLDFLAGS += " #{by_alignment}" if try_ldflags(by_alignment)

version_script = File.join(__dir__, "interpose", "libheapline.map")
$DLDFLAGS += " -Wl,--version-script=#{version_script}" if File.exist?(version_script)

# Each room is a folder; names of files are unique over all of them.
rooms = Dir.children(__dir__).select { |name| File.directory?(File.join(__dir__, name)) }.sort
$VPATH.concat(rooms.map { |room| "$(srcdir)/#{room}" })
$srcs = Dir[File.join(__dir__, "*", "*.c")].map { |path| File.basename(path) }.sort

create_makefile("heapline/libheapline")
