# frozen_string_literal: true

# The program that `heapline doctor` runs under the core. Each marked line allocates a block of a size that occurs
# nowhere else; doctor looks in the flight file whether it was counted at that line.
KEPT = [] # rubocop:disable Style/MutableConstant
IN_EVAL = 'KEPT << ("e" * 150_005)'

def in_method
  KEPT << ("m" * 150_001) # probe: method
end

in_method
[1].each do
  KEPT << ("b" * 150_002) # probe: block
end
Fiber.new do
  KEPT << ("f" * 150_003) # probe: Fiber
end.resume
Thread.new do
  KEPT << ("t" * 150_004) # probe: Thread
end.join
TOPLEVEL_BINDING.eval(IN_EVAL, "heapline-probe.erb", 7) # probe: eval
RubyVM::YJIT.enable if defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enable) # takes memory of its own
