# frozen_string_literal: true

require "heapline/version"
require "heapline/errors"
require "heapline/native"
require "heapline/model"
require "heapline/format/inert"
require "heapline/rows"
require "heapline/fiber_state"
require "heapline/accounting"
require "heapline/tag"
require "heapline/measure"
require "heapline/objects"
require "heapline/growth_log"
require "heapline/heap_dumping"
require "heapline/heap_pages"
require "heapline/leaks"
require "heapline/live_blocks"
require "heapline/recorder"

# Exact accounting of every malloc by Ruby line, seen from inside the process.
#
#   heapline ruby app.rb
#
# starts a program under accounting. In it `require "heapline"` gives the figures so far (Heapline.each, .snapshot,
# .measure, .objects) and a say in what is counted (.clear, .quiet, .tag). In a process that was started without the
# command, the module is inert: Heapline.enabled? is false, quiet and tag only yield, and asking for figures raises
# Heapline::NotEnabled. docs/api.md shows each method with an example.
#
# Bytes are requested bytes, ages are GC generations.
module Heapline
end
