# frozen_string_literal: true

# The preload core, lib/heapline/libheapline.so. mkmf builds Ruby extensions; this is none: it must load into programs
# that are not Ruby, so everything that mkmf adds for Ruby is taken away again and an undefined symbol is an error.
require "mkmf"

LIBURCU_MISSING = <<~MESSAGE
  heapline needs liburcu 0.13 or newer (userspace RCU) with its header files, and did not find it.
  Install it and try again:
    Debian, Ubuntu   apt-get install liburcu-dev
    Fedora, RHEL     dnf install userspace-rcu-devel
    Alpine           apk add userspace-rcu-dev
    Arch             pacman -S liburcu
MESSAGE

unless RUBY_PLATFORM.include?("linux")
  abort "heapline runs on Linux only: its core is preloaded by the dynamic linker of Linux."
end

$LIBRUBYARG = $LIBRUBYARG_SHARED = $LIBRUBYARG_STATIC = ""
$LIBS = "-ldl -lpthread"
$libs = ""

urcu = have_header("urcu/urcu-bp.h") && have_header("urcu/rculfhash.h") &&
       have_library("urcu-common") && have_library("urcu-bp") && have_library("urcu-cds")
abort LIBURCU_MISSING unless urcu

$warnflags = "-Wall -Wextra"
$CFLAGS = "-std=gnu11 -O2 -g -fPIC -fvisibility=hidden -ftls-model=initial-exec"
$CPPFLAGS = "#{$CPPFLAGS} -D_GNU_SOURCE -DHL_RUBY_VERSION='\"#{RUBY_VERSION[/\A\d+\.\d+/]}\"'"
$LDFLAGS = ""
$DLDFLAGS = "-Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,--as-needed"

version_script = File.join(__dir__, "libheapline.map")
$DLDFLAGS += " -Wl,--version-script=#{version_script}" if File.exist?(version_script)

create_makefile("heapline/libheapline")
