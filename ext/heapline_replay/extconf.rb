# frozen_string_literal: true

# The replayer, lib/heapline/replayer.so: a program, not a library. It carries the name of a shared object because that
# is what RubyGems builds and installs. It runs with other allocators, without Ruby, so everything that mkmf adds for
# Ruby is taken away.
require "mkmf"

$LIBRUBYARG = $LIBRUBYARG_SHARED = $LIBRUBYARG_STATIC = ""
$LIBS = "-ldl -lpthread"
$libs = ""

$warnflags = "-Wall -Wextra"
# What the compiler knows of malloc and free would let it leave out pairs of them.
$CFLAGS = "-std=gnu11 -O2 -g -fPIE -fno-builtin"
$CPPFLAGS = "#{$CPPFLAGS} -D_GNU_SOURCE"
$LDFLAGS = ""
# Libraries find clock_gettime in the program only where it exports it.
$DLDFLAGS = "-rdynamic -Wl,-z,now -Wl,-z,relro -Wl,--as-needed"
CONFIG["LDSHARED"] = "$(CC) -pie"

create_makefile("heapline/replayer")
