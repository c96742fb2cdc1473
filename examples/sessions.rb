# frozen_string_literal: true

# A small shop whose sessions never end, for heap dumps. It writes three of them into a directory:
#
#   ruby examples/sessions.rb /tmp
#   heapline heap diff /tmp/1.json /tmp/2.json /tmp/3.json    # what was born and stayed
#   heapline heap find /tmp/3.json Session --path             # who holds it
#
# Between two dumps there are 2,000 visits. Each makes one Session, which Shop::SESSIONS keeps for ever, beside much
# that is garbage soon: carts, and a log that is emptied.
require "objspace"

# One visitor, with the page that was made for him.
class Session
  def initialize(user)
    @user = user
    @cache = { page: "<p>Welcome, #{user}!</p>" * 20 }
  end
end

# What a visitor takes along; it is garbage when he has paid.
class Cart
  def initialize(items)
    @items = items
  end

  def total
    @items.sum
  end
end

# Serves visitors.
class Shop
  SESSIONS = {} # rubocop:disable Style/MutableConstant -- it is the leak

  def initialize
    @log = []
  end

  def visit(number)
    SESSIONS[number] = Session.new("visitor #{number}")
    @log << "visitor #{number} paid #{Cart.new([number, 5]).total}"
  end

  def close
    @log.clear
  end
end

directory = ARGV.fetch(0) { abort "usage: ruby examples/sessions.rb DIRECTORY" }
ObjectSpace.trace_object_allocations_start
shop = Shop.new
3.times do |day|
  Thread.new { 2000.times { |number| shop.visit((day * 2000) + number) } }.join
  shop.close
  GC.start
  File.open(File.join(directory, "#{day + 1}.json"), "w") { |file| ObjectSpace.dump_all(output: file) }
end
