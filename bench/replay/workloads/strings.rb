# frozen_string_literal: true

# Strings of many sizes, of which a third is kept for a while: one thread, much of it beyond the allocator's caches.
random = Random.new(1)
kept = []
60_000.times do
  kept << ("x" * (20 + random.rand(3000)))
  kept.delete_at(random.rand(kept.size)) if kept.size > 20_000
end
sleep 0.2 # so that it is seen at its size
