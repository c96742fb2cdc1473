# frozen_string_literal: true

# Required by a measured program: Ruby's own tracing of where objects are made, on from the start.
require "objspace"
ObjectSpace.trace_object_allocations_start
