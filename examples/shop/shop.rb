# frozen_string_literal: true

require "digest"
require "fiddle"
require "securerandom"

# A small shop as a Rack application, with two leaks, one cache and much that is temporary: something to look at with
# heapline. See docs/production.md.
class Shop
  PRODUCTS = Array.new(200) { |number| "product #{number}" }.freeze

  # Leak 1: a visitor's session is never forgotten. Ruby strings.
  class Sessions
    def initialize
      @all = {}
    end

    def add(visitor)
      @all[visitor] = { basket: "b" * 600 }
    end
  end

  # Leak 2: the pixels of a preview are native memory, and nobody frees them.
  class Preview
    BYTES = 4096

    def initialize(product)
      @product = product
      @pixels = Fiddle.malloc(BYTES)
    end

    def to_s
      "#{@product} at 0x#{@pixels.to_s(16)}"
    end
  end

  # No leak: the rendered pages of all products. It fills and then stays as it is.
  class Pages
    def initialize
      @pages = {}
    end

    def fetch(product)
      @pages[product] ||= yield
    end
  end

  def initialize
    @sessions = Sessions.new
    @pages = Pages.new
    @lock = Mutex.new
  end

  # env → [status, headers, body]
  def call(env)
    case env["PATH_INFO"]
    when %r{\A/products/(\d+)} then answer(product(PRODUCTS[Regexp.last_match(1).to_i % PRODUCTS.size]))
    when %r{\A/preview/(\d+)} then answer(Preview.new(Regexp.last_match(1)).to_s)
    when "/session" then answer(session)
    else [404, { "content-type" => "text/plain" }, ["no such page\n"]]
    end
  end

  private

  def answer(text)
    [200, { "content-type" => "text/html" }, [text]]
  end

  def product(name)
    page = @lock.synchronize { @pages.fetch(name) { render(name) } }
    page + recommendations(name)
  end

  def render(name)
    rows = Array.new(200) { |row| "<tr><td>#{row}</td><td>#{Digest::MD5.hexdigest(name * row)}</td></tr>" }
    "<h1>#{name}</h1><table>#{rows.join("\n")}</table>"
  end

  # Made for each visitor, and thrown away: the most is allocated here, and nothing stays.
  def recommendations(name)
    PRODUCTS.sample(40).map { |other| "<p>Who bought #{name} also bought #{other}.</p>" }.join("\n")
  end

  def session
    visitor = SecureRandom.hex(16)
    @lock.synchronize { @sessions.add(visitor) }
    visitor
  end
end
