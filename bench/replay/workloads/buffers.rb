# frozen_string_literal: true

# What a program that reads and writes does: buffers that grow step by step, and are freed in another order, in four
# threads.
threads = Array.new(4) do |number|
  Thread.new do
    random = Random.new(number)
    open = []
    6000.times do
      buffer = String.new(capacity: 512)
      random.rand(40).times { buffer << ("data" * random.rand(300)) }
      open << buffer
      open.delete_at(random.rand(open.size)) if open.size > 300
    end
    open.size
  end
end
threads.each(&:value)
sleep 0.2
