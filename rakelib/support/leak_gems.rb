# frozen_string_literal: true

require "json"

module Tasks
  # Gems with C extensions as they were released, each exercised by a program in test/leaks/gems under `heapline leaks`.
  # One has a leak that is known, with its function and line; the others must have none.
  class LeakGems
    # flags: of its installation. leak: "function file:line" of what it loses in each of `times` rounds, or nil.
    Released = Struct.new(:name, :version, :flags, :leak, keyword_init: true)

    FILE = File.join(ROOT, "docs/leaks.md")
    MARKS = /(?<=<!-- gems: begin -->\n).*(?=<!-- gems: end -->)/m
    # Of 2015: newer compilers refuse what it left to them.
    OLD_C = ["--", "--with-cflags=-g -O2 -Wno-error=implicit-function-declaration " \
                   "-Wno-error=incompatible-pointer-types"].freeze
    QUICK = [
      Released.new(name: "redcarpet", version: "3.3.2", flags: OLD_C,
                   leak: "rb_redcarpet_rbase_alloc rc_render.c:374"),
      Released.new(name: "redcarpet", version: "3.5.0"), Released.new(name: "msgpack", version: "1.8.7"),
      Released.new(name: "racc", version: "1.8.1"), Released.new(name: "bcrypt", version: "3.1.22")
    ].freeze
    ALL = [
      *QUICK, Released.new(name: "json", version: "3.1.0"), Released.new(name: "bigdecimal", version: "4.1.3"),
      Released.new(name: "strscan", version: "3.1.8"), Released.new(name: "oj", version: "3.13.23"),
      Released.new(name: "nokogiri", version: "1.18.10"), Released.new(name: "sqlite3", version: "2.8.1"),
      Released.new(name: "google-protobuf", version: "3.25.8", flags: %w[--platform x86_64-linux])
    ].freeze

    def initialize(gems)
      @gems = gems
    end

    # A Tally, one count a gem.
    def run
      @reports = @gems.to_h { |gem| [gem, search(gem)] }
      right = @reports.count { |gem, report| right?(gem, report) }
      puts table
      Tally.new(layer: @gems == ALL ? "leaks:gems" : "leaks:gems:quick", passed: right, failed: @gems.size - right)
    end

    # The table of docs/leaks.md, between its two marks.
    def write
      page = File.read(FILE, encoding: "UTF-8")
      abort "#{FILE} has lost its marks" unless page.match?(MARKS)
      File.write(FILE, page.sub(MARKS) { "#{table}\n" })
    end

    private

    # The report of `heapline leaks` (Hash).
    def search(gem)
      GemHome.install(gem.name, gem.version, *gem.flags)
      program = "gem #{gem.name.dump}, #{gem.version.dump}; load \"test/leaks/gems/#{gem.name.tr("-", "_")}.rb\""
      ok, output = Shell.capture("timeout", "120", RbConfig.ruby, "exe/heapline", "leaks", "--format", "json",
                                 RbConfig.ruby, "-e", program,
                                 env: PlainRuby::ENVIRONMENT.merge("GEM_PATH" => GemHome.gem_path))
      JSON.parse(output[/^\{.*/m] || abort("#{gem.name} ended badly (#{ok}):\n#{output}"))
    end

    def right?(gem, report)
      gem.leak ? report["lost"] && lost(report).all? { |record| asked_for_by?(record, gem.leak) } : !report["lost"]
    end

    def lost(report)
      report["records"].select { |record| %w[definite indirect].include?(record["kind"]) }
    end

    def asked_for_by?(record, place)
      record["frames"].any? do |frame|
        place == "#{frame["function"]} #{File.basename(frame["path"].to_s)}:#{frame["lineno"]}"
      end
    end

    def table
      rows = @reports.map do |gem, report|
        sums = [report["lost_bytes"], report["lost_blocks"]]
        what = report["lost"] ? "#{sums[0]} B in #{sums[1]} blocks: #{places(report).join(", ")}" : "nothing"
        "| #{gem.name} #{gem.version} | #{what} |\n"
      end
      "Ruby #{RUBY_VERSION}:\n\n| gem | definitely or indirectly lost |\n| --- | --- |\n#{rows.join}"
    end

    # The functions with a line that asked for what is lost.
    def places(report)
      lost(report).filter_map { |record| record["frames"].find { |frame| frame["lineno"] } }
                  .map { |frame| "`#{frame["function"]}` at #{File.basename(frame["path"])}:#{frame["lineno"]}" }.uniq
    end
  end
end
