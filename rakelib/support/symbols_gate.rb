# frozen_string_literal: true

module Tasks
  # The core's face to the dynamic linker: what it exports, and what it needs. A name too many would replace somebody
  # else's function; a strong rb_* reference would keep every program that is not Ruby from starting.
  class SymbolsGate < Gate
    NEEDED = /\A(libc\.so\.|libc\.musl|ld-linux|ld-musl|libdl\.|libpthread\.)/
    EXPECTED = "test/fixtures/exported_symbols.txt"

    def initialize(library = CORE, root = ROOT)
      super(root)
      @library = library
    end

    def name
      "symbols"
    end

    def problems
      return ["#{@library} is not there: rake compile"] unless File.exist?(@library)

      exports + needed + undefined
    end

    # Names that the library exports, sorted, without symbol versions.
    def exported
      nm("--defined-only").map { |line| line.split.last.sub(/@.*/, "") }.sort
    end

    private

    def exports
      path = File.join(@root, EXPECTED)
      return ["#{EXPECTED} is not there"] unless File.exist?(path)

      listed = File.readlines(path, chomp: true).reject { |line| line.empty? || line.start_with?("#") }
      (exported - listed).map { |symbol| "exports #{symbol}, which #{EXPECTED} does not list" } +
        (listed - exported).map { |symbol| "does not export #{symbol}, which #{EXPECTED} lists" }
    end

    def needed
      _, output = Shell.capture("readelf", "-d", @library)
      libraries = output.scan(/\(NEEDED\).*\[(.+)\]/).flatten
      return ["readelf shows no needed library at all"] if libraries.empty?

      libraries.grep_v(NEEDED).map { |library| "needs #{library}: only libc is allowed" }
    end

    def undefined
      strong = nm("--undefined-only").filter_map { |line| line[/\bU ((rb|ruby)_\w+)/, 1] }
      strong.map { |symbol| "refers to #{symbol} strongly: programs that are not Ruby would not start" }
    end

    def nm(kind)
      _, output = Shell.capture("nm", "-D", kind, @library)
      output.lines
    end
  end
end
