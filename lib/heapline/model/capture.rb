# frozen_string_literal: true

require_relative "capture/bucket"
require_relative "capture/call"
require_relative "capture/change"
require_relative "capture/collection"
require_relative "capture/frame"
require_relative "capture/group"
require_relative "capture/moment"
require_relative "capture/node"
require_relative "capture/stack"
require_relative "capture/summary"
require_relative "capture/sums"
