# frozen_string_literal: true

# The Ruby extension heapline/native: it reads flight files and reaches the preloaded core. It links neither the core
# nor liburcu; it finds the core at run time.
require "mkmf"

$CPPFLAGS << " -D_GNU_SOURCE"
have_func("rb_internal_thread_specific_key_create", "ruby/thread.h")
append_cflags(%w[-Wall -Wextra -Wno-unused-parameter -Wno-declaration-after-statement -fvisibility=hidden])
create_makefile("heapline/native")
