# frozen_string_literal: true

require_relative "heap/change"
require_relative "heap/comparison"
require_relative "heap/dominators"
require_relative "heap/duplicate_string"
require_relative "heap/group"
require_relative "heap/object"
require_relative "heap/reference"
require_relative "heap/step"
require_relative "heap/summary"
