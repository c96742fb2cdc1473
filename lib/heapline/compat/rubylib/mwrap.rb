# frozen_string_literal: true

# `heapline --mwrap` puts this directory on RUBYLIB, so that `require "mwrap"` finds this file before mwrap itself. The
# program need not know heapline: its own directory may not be on the load path yet.
library = File.expand_path("../../..", __dir__)
$LOAD_PATH << library unless $LOAD_PATH.include?(library)
require "heapline/compat/mwrap"
