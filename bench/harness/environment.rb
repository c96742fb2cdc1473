# frozen_string_literal: true

module Bench
  # What measured processes must not inherit: whoever starts the harness may use Bundler, a preload or heapline itself.
  module Environment
    FOREIGN = /\A(BUNDLE|BUNDLER_|RUBYOPT\z|RUBYLIB\z|RUBY_GC_|LD_PRELOAD\z|HEAPLINE|MWRAP\z|MALLOC_)/

    # A heap that begins as large as it will be. By default a program as small as these ends up with a heap of one size
    # or another by chance: 500 live objects more made 358 collections of 907 in the same loop, without any tool.
    # Ruby 3.1 has one variable, later ones have one for each slot size.
    GROWN_HEAP = ["RUBY_GC_HEAP_INIT_SLOTS", *(0..4).map { |pool| "RUBY_GC_HEAP_#{pool}_INIT_SLOTS" }]
                 .to_h { |name| [name, "100000"] }.freeze

    # Names to nil, for spawn: removes them.
    def self.clean
      ENV.keys.grep(FOREIGN).to_h { |name| [name, nil] }
    end
  end
end
