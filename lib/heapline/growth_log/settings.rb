# frozen_string_literal: true

module Heapline
  module GrowthLog
    # How a log is written. every: seconds between two lines of a process. top: sites by each of three rankings. rss:
    # resident bytes from which a process is copied once, or nil.
    Settings = Struct.new(:every, :top, :rss, keyword_init: true) do
      # top: 0 stands for as many as there may be.
      def initialize(every: nil, top: nil, rss: nil)
        top = self.class::TOP_MOST unless top.nil? || top.between?(1, self.class::TOP_MOST)
        super(every: (every || 60).to_f, top: top || 20, rss: rss)
        freeze
      end
    end
    Settings::TOP_MOST = 250
  end
end
