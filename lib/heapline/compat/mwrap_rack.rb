# frozen_string_literal: true

require "heapline/compat/mwrap"
require "heapline/web/application"

# The Rack application of mwrap 2, counted by heapline: `heapline --mwrap` makes `require "mwrap_rack"` load this.
#
#   map("/MWRAP") { run(MwrapRack.new) }
#
# `/each/2000?sort=frees` are the locations with more than 2000 bytes, `/at/app.rb:12` is one of them with its live
# blocks, `/heap_pages` the pages of the object heap. As in mwrap, whoever gets there may look, unless the environment
# has a HEAPLINE_TOKEN: see docs/endpoints.md.
# It changes nothing, and what it allocates is in no figure.
class MwrapRack
  # Columns by their names in the query: the figure of Heapline::Row.
  COLUMNS = { "total" => :total, "allocations" => :allocations, "frees" => :frees, "live" => :retained_bytes,
              "mean_life" => :mean_lifespan, "max_life" => :max_lifespan, "location" => :location }.freeze
  # "bytes" means the total.
  ALIASES = { "bytes" => "total" }.freeze
  LEAST = 2000
  # Live blocks on a page, at most: the largest.
  BLOCKS = 10_000
  PAGE = Heapline::Web::Page
  private_constant :PAGE
  EACH = %r{\A/each/(\d{1,18})\z}
  HEAP_PAGES = "/heap_pages"
  # Of GC.stat, beside what is known of pages; each Ruby has some of them.
  COUNTS = %i[count heap_allocated_pages heap_eden_pages heap_tomb_pages heap_empty_pages total_allocated_pages
              total_freed_pages].freeze
  AT = %r{\A/at/(.+)\z}m

  # Hash of the environment → [status, headers, body]
  def call(env)
    Heapline.quiet do
      request = Heapline::Web::Request.of_rack(env)
      application.call(request).to_rack(head: request.head?)
    end
  end

  private

  def application
    @application ||= begin
      token = ENV.fetch("HEAPLINE_TOKEN", nil)
      access = Heapline::Web::Access.new(token: token, open: token.nil?)
      Heapline::Web::Application.new(access) { |request| route(request) }
    end
  end

  def route(request)
    case request.path
    when "", "/" then index(request.base)
    when EACH then each(request, Regexp.last_match(1).to_i)
    when HEAP_PAGES then heap_pages
    when AT then at(Heapline::Web::Request.decode(Regexp.last_match(1)))
    else raise Heapline::Web::Missing, "there are /each/#{LEAST}, /at/LOCATION and #{HEAP_PAGES}"
    end
  end

  def index(base)
    page("Mwrap", "<p>#{PAGE.link("#{base}/each/#{LEAST}", "locations with more than #{LEAST} bytes")}</p>" \
                  "<p>#{PAGE.link("#{base}#{HEAP_PAGES}", "pages of the object heap")}</p>")
  end

  def each(request, least)
    sort = ALIASES.fetch(request.params["sort"], request.params["sort"])
    sort = "total" unless COLUMNS.key?(sort)
    chosen = rows.select { |row| row.total > least }.sort_by { |row| order(row, sort) }
    heads = COLUMNS.keys.map { |name| PAGE.link("#{request.base}/each/#{least}?sort=#{name}", name) }
    lines = chosen.map { |row| cells(row, request.base) }
    page("Locations with more than #{least} bytes", PAGE.table(heads, lines, COLUMNS.keys.index(sort)))
  end

  def at(location)
    row = rows.find { |candidate| candidate.location == location }
    raise Heapline::Web::Missing, "nothing is counted at #{Heapline::Inert.text(location)}" unless row

    page(location, PAGE.table(COLUMNS.keys, [cells(row, nil)]) + blocks(Mwrap::SourceLocation.find(location)))
  end

  # The live blocks of a location, the largest first.
  def blocks(source)
    all = source ? source.live_blocks : []
    shown = all.max_by(BLOCKS) { |block| block[1] }
    lines = shown.map { |address, bytes, generation| [bytes.to_s, generation.to_s, format("0x%x", address)] }
    "<h1>#{all.size} live blocks#{", the largest #{BLOCKS}" if all.size > shown.size}</h1>" \
      "#{PAGE.table(%w[size generation address], lines)}"
  rescue Heapline::NotEnabled
    "<p>Live blocks are not kept here: start the process with heapline --mwrap, or HEAPLINE=blocks.</p>"
  end

  def heap_pages
    figures = Mwrap::HeapPageBody.stat.merge(GC.stat.slice(*COUNTS)).map { |name, value| [number(value), name.to_s] }
    pages = Mwrap::HeapPageBody.to_enum(:each).map { |address, generation| [generation.to_s, format("0x%x", address)] }
    page("Pages of the object heap", PAGE.table(%w[value stat], figures) + PAGE.table(%w[generation address], pages))
  end

  # Numbers from the largest, names from the first.
  def order(row, sort)
    value = row.public_send(COLUMNS.fetch(sort))
    sort == "location" ? value.b : -value
  end

  def cells(row, base)
    *figures, _location = COLUMNS.values
    figures = figures.map { |figure| number(row.public_send(figure)) }
    [*figures, base ? PAGE.location(row.location, base) : PAGE.escape(row.location)]
  end

  def number(value)
    value.is_a?(Float) ? format("%.3f", value) : value.to_s
  end

  # Without the preload there is nothing, as in mwrap.
  def rows
    Heapline.enabled? ? Heapline.rows : []
  end

  def page(title, content)
    Heapline::Web::Response.of(PAGE.document(title, content), type: PAGE::TYPE, policy: PAGE::POLICY)
  end
end
