# frozen_string_literal: true

# Three leaks of Ruby objects, as they happen in real programs: a cache without a bound, subscribers that nobody takes
# off their list, and blocks that are kept and keep what they were made with. Beside them a lot of garbage. Run it with
#
#   heapline --objects ruby examples/object_leaks.rb [rounds]
#
# which says what each line left behind, class by class; it should be what the program prints.

# A price that was asked for once is kept for ever.
class Prices
  # What is kept.
  class Quote
    def initialize(product, cents)
      @product = product
      @cents = cents
    end
  end

  def initialize
    @quotes = {}
  end

  def of(product)
    @quotes[product] ||= Quote.new(product, product * 7)
  end

  def size
    @quotes.size
  end
end

# Each visitor subscribes and none unsubscribes.
class News
  # One subscription.
  class Subscriber
    def call(headline)
      headline
    end
  end

  def initialize
    @subscribers = []
  end

  def subscribe
    @subscribers << Subscriber.new
  end

  def size
    @subscribers.size
  end
end

# What is to be done later, with the page that it was decided on.
class Later
  def initialize
    @blocks = []
  end

  def remember(number)
    page = format("<html>page %d</html>", number)
    @blocks << -> { page.size }
  end

  def size
    @blocks.size
  end
end

# What every request makes and drops.
def garbage(number)
  3.times.map { |part| "part #{part} of #{number}" }.join(", ")
end

rounds = Integer(ARGV.fetch(0, "10000"))
prices = Prices.new
news = News.new
later = Later.new
rounds.times do |number|
  prices.of(number)
  news.subscribe if number.even?
  later.remember(number) if (number % 5).zero?
  garbage(number)
end
GC.start
puts "#{prices.size} quotes, #{news.size} subscribers, #{later.size} blocks with a page each"
