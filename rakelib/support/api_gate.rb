# frozen_string_literal: true

module Tasks
  # docs/api.md lists the public classes of the library and their methods: each class that the sources do not mark
  # `@api private` has its row there, with each method that sig/ declares, and each row names what is public. A mark
  # holds for what lies inside, too; `@api public` takes it away again.
  class ApiGate < Gate
    PAGE = "docs/api.md"
    ROW = /^\| `(Heapline(?:::\w+)*)` \| (.*) \|$/
    MARK = /\A\s*#.*@api (private|public)\b/
    OPENED = /\A( *)(?:(?:class|module) ([A-Z][\w:]*)|([A-Z]\w*) = (?:Struct|Class|Module)\.new)/
    # What each class has anyway.
    EVERYWHERE = %w[initialize inspect to_s].freeze

    # declared: Hash of a class's name to what its signature declares ("#name", ".name")
    def initialize(root = ROOT, declared: SignaturesGate.new(root).declared)
      super(root)
      @declared = declared
    end

    private

    def patterns
      %w[lib/heapline.rb lib/heapline/**/*.rb]
    end

    def check
      rows = File.read(File.join(@root, PAGE), encoding: "UTF-8").scan(ROW).to_h
                 .transform_values { |methods| methods.scan(/`([^`]+)`/).flatten }
      marks = marked
      open = @opened.select { |name| public?(name, marks) }
      (open - rows.keys).map { |name| "#{PAGE} lacks a row for #{name}: add one, or mark the class `@api private`" } +
        (rows.keys - open).map { |name| "#{PAGE} lists #{name}, which is not there or is `@api private`" } +
        (rows.keys & open).flat_map { |name| differences(name, rows.fetch(name)) }
    end

    def differences(name, listed)
      there = (@declared[name] || []).map { |method| method.delete_prefix("#") }.uniq - EVERYWHERE
      (there - listed).map { |method| "#{PAGE} lacks #{method} in the row of #{name}" } +
        (listed - there).map { |method| "#{PAGE} lists #{method} of #{name}, which sig/ does not declare" }
    end

    def public?(name, marks)
      parts = name.split("::")
      nearest = parts.size.downto(1).find { |size| marks.key?(parts.first(size).join("::")) }
      nearest.nil? || marks[parts.first(nearest).join("::")] == "public"
    end

    # Hash of a class's name to its mark. The sources are indented as RuboCop has it.
    def marked
      @opened = []
      files.each_with_object({}) { |file, marks| read(file, marks) }
    end

    def read(file, marks)
      within = []
      mark = nil
      File.foreach(File.join(@root, file), encoding: "UTF-8") do |line|
        next mark ||= line[MARK, 1] if line.match?(/\A\s*#/)

        name = opened(line, within)
        @opened |= [name] if name
        marks[name] = mark if name && mark
        mark = nil
      end
    end

    # The full name of the class that this line opens, or nil. `within`: Array of [indentation, name], changed here.
    def opened(line, within)
      indent, scope, constant = line.match(OPENED)&.captures
      return unless indent

      within.pop while within.any? && within.last.first >= indent.size
      name = [*within.map(&:last), scope || constant].join("::")
      within << [indent.size, scope || constant]
      name if name.start_with?("Heapline")
    end
  end
end
