# frozen_string_literal: true

module Tasks
  # The documents name only what exists, and what exists is named where it must be.
  class DocsGate < Gate
    PATHS = %r{(?<![\w./~-])((?:lib|ext|exe|test|docs|bench|sig|script|examples|rakelib|\.ci)/[\w./*-]*[\w*])}
    TASK = /\brake ([a-z][\w:]*)/
    OPTION = /["'](--[a-z][\w-]*)/

    # tasks: names of the Rake tasks that exist; nil: ask Rake. figures: lines of the tables of figures
    def initialize(root = ROOT, tasks: nil, figures: FiguresTable.lines)
      super(root)
      @tasks = tasks
      @figures = figures
    end

    def name
      "docs"
    end

    private

    def patterns
      %w[*.md docs/**/*.md]
    end

    def check
      paths + rake_tasks + options + figures
    end

    def paths
      mentions(PATHS).reject do |_, path|
        exists?(path)
      end.map { |file, path| "#{file} names #{path}, which is not there" }
    end

    # What the build makes exists after it, and a checkout may be looked at before.
    def exists?(path)
      path.end_with?(".so") || Dir.glob(path.delete_suffix("."), base: @root).any?
    end

    def rake_tasks
      known = @tasks || Rake.application.tasks.map { |task| task.name.sub(/\[.*/, "") }
      mentions(TASK).reject { |_, task| known.include?(task) }
                    .map { |file, task| "#{file} names `rake #{task}`, which is no task" }
    end

    # Every option of the command line has its place in docs/cli.md.
    def options
      sources = Dir.glob("lib/heapline/**/*.rb", base: @root)
      page = read("docs/cli.md")
      sources.flat_map do |source|
        options_of(source).reject { |option| page.match?(/#{Regexp.escape(option)}(?![\w-])/) }
                          .map { |option| "#{source} takes #{option}, which docs/cli.md does not explain" }
      end
    end

    def options_of(source)
      read(source).scan(/\.on\(.*/).flat_map { |line| line.scan(OPTION).flatten }.uniq
    end

    # The tables of figures say what is declared, and nothing else.
    def figures
      written = read(FiguresTable::PAGE)[FiguresTable::MARKS].to_s.lines(chomp: true)
      (@figures - written).map { |line| "#{FiguresTable::PAGE} lacks: #{line}" } +
        (written - @figures).map { |line| "#{FiguresTable::PAGE} has what is not declared: #{line}" }
    end

    # Array of [file, what the pattern's group caught]
    def mentions(pattern)
      files.flat_map { |file| read(file).scan(pattern).flatten.uniq.map { |found| [file, found] } }
    end

    def read(path)
      full = File.join(@root, path)
      File.exist?(full) ? File.read(full, encoding: "UTF-8") : ""
    end
  end
end
