# frozen_string_literal: true

require "heapline/errors"
require "heapline/version"
require "heapline/native"
require "heapline/accounting/flight"
require "heapline/accounting/flight_directory"
require "heapline/processes/ledger"
require "heapline/processes/process_tree"
require "heapline/terminal/inert"
require "heapline/accounting/row"
require "heapline/accounting/api"
require "heapline/accounting/late_start"
require "heapline/accounting/tag"
require "heapline/accounting/measure"
require "heapline/accounting/object_accounting"
require "heapline/growth/log"
require "heapline/heap/api"
require "heapline/leaks/api"
require "heapline/recording/recorder"

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
