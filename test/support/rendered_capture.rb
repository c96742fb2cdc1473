# frozen_string_literal: true

require "heapline/capture"
require "support/captures"
require "support/readers"

# Captures in the formats that have whole stacks.
module RenderedCapture
  include Readers

  # [what a random capture is in a format, Captures::Oracle]
  def random(format, seed: 3, **options)
    builder = Captures.random(seed, 900)
    [of(builder, format, **options), Captures::Oracle.new(builder.events)]
  end

  # A capture with a name that would act, of one block of 8 bytes.
  def hostile(format, **options)
    builder = Captures::Builder.new
    builder.birth(0, 8, [["a;\e", "/x/b\nc.rb", 1, nil, nil]])
    of(builder, format, **options)
  end

  def empty(format, **options)
    of(Captures::Builder.new.tap { |builder| builder.mark(0, :gc_start) }, format, **options)
  end

  def of(builder, format, **options)
    Captures.file(builder.to_s) { |path| rendered(format, Heapline::Capture.open(path), **options) }
  end
end
