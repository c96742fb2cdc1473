# frozen_string_literal: true

# Found by `require "mwrap_rack"` as mwrap.rb beside it is by `require "mwrap"`.
require_relative "mwrap"
require "heapline/compat/mwrap_rack"
