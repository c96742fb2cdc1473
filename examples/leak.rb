# frozen_string_literal: true

# A small shop that grows, for two reasons, in the midst of much that is healthy.
#
#   heapline ruby examples/leak.rb
#
# It takes about two seconds. The report at the end begins with the two lines that hold memory for ever:
#
# - Receipts#render caches each receipt under a key that never comes again, and never evicts;
# - Thumbnail#initialize takes native memory that nobody gives back when the object is gone.
#
# Far below them: Catalogue#find, whose cache is bounded and stops growing, and Shop#invoice, which with the JSON that
# it makes and reads allocates more than all others together and keeps nothing. Growth tells them apart; the number of
# allocations does not. The first argument is the number of orders (10,000).
require "fiddle"
require "json"

# A bounded cache: it fills and then stays.
class Catalogue
  LIMIT = 200

  def initialize
    @cache = {}
  end

  def find(id)
    @cache.delete(@cache.first.first) if @cache.size >= LIMIT && !@cache.key?(id)
    @cache[id] ||= { id: id, name: "Article #{id}", text: "Made of oak. " * 40 }
  end
end

# The first leak: a cache whose key contains the order's number.
class Receipts
  TEMPLATE = "<h1>%<name>s</h1><p>%<text>s</p>" * 8

  def initialize
    @cache = {}
  end

  def render(order, article)
    @cache["#{order}/#{article[:id]}"] ||= format(TEMPLATE, article)
  end
end

# The second leak: memory that the garbage collector does not know.
class Thumbnail
  BYTES = 4096

  def initialize
    @pixels = Fiddle.malloc(BYTES)
  end
end

# What happens at each order.
class Shop
  def initialize
    @catalogue = Catalogue.new
    @receipts = Receipts.new
  end

  def order(number)
    article = @catalogue.find(number % 500)
    @receipts.render(number, article)
    Thumbnail.new if (number % 3).zero?
    invoice(number, article)
  end

  # Much garbage, none of it kept.
  def invoice(number, article)
    lines = Array.new(20) { |position| { position: position, number: number, text: article[:text].upcase } }
    JSON.parse(JSON.generate(lines)).sum { |line| line["text"].size }
  end
end

shop = Shop.new
orders = (ARGV.first || 10_000).to_i
orders.times { |number| shop.order(number) }
GC.start
puts "#{orders} orders, #{GC.stat(:heap_live_slots)} live objects"
