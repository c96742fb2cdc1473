# frozen_string_literal: true

require_relative "support"

# Arithmetic on small integers in place: the cost of being preloaded where there is nothing to count.
module Sieve
  def self.primes_below(limit)
    composite = "\0" * limit
    (2..Integer.sqrt(limit)).each do |factor|
      next if composite.getbyte(factor) == 1

      (factor * factor).step(limit - 1, factor) { |multiple| composite.setbyte(multiple, 1) }
    end
    composite.count("\0") - 2
  end
end

Workload.run(full: 8_000_000, quick: 10_000) do |limit|
  primes = Sieve.primes_below(limit)
  Workload.check({ 10_000 => 1_229, 8_000_000 => 539_777 }[limit] == primes, "#{primes} primes below #{limit}")
  primes
end
