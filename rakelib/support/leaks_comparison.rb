# frozen_string_literal: true

require "fileutils"

module Tasks
  # The corpus of test/leaks under heapline, Valgrind and LeakSanitizer in one run: what each finds, in which class, and
  # how long it takes. Writes the tables of docs/leaks.md, between their two marks.
  class LeaksComparison
    FILE = File.join(ROOT, "docs/leaks.md")
    MARKS = /(?<=<!-- compared: begin -->\n).*(?=<!-- compared: end -->)/m
    # What a test suite does besides losing blocks: more than a second of a plain Ruby.
    WORK = <<~RUBY
      require "json"
      require "erb"
      rows = Array.new(200) { |i| { "id" => i, "name" => "name \#{i}", "tags" => %w[a b c], "price" => i * 1.5 } }
      page = ERB.new("<% rows.each do |row| %><li><%= row['name'] %>: <%= row['price'] %></li><% end %>")
      2000.times { JSON.parse(JSON.generate(rows)) && page.result(binding) }
    RUBY

    # quick: without the work.
    def initialize(rounds: 1, quick: false)
      require "minitest"
      $LOAD_PATH.unshift(File.join(ROOT, "test"))
      require "support/leak_corpus"
      @rounds = rounds
      @programs = { "lost" => LeakCorpus.source(LeakCorpus.lost, LeakCorpus::LOST_RUBY),
                    "clean" => LeakCorpus.source(LeakCorpus.clean, LeakCorpus::CLEAN_RUBY) }
      @programs["work"] = LeakCorpus.source(LeakCorpus.lost, LeakCorpus::LOST_RUBY + WORK) unless quick
    end

    # A Tally: each case that heapline finds in its class, each clean one that it does not blame.
    def check
      run
      puts tables
      wrong = planted.size - agreeing("heapline")
      blamed = found("heapline", "clean").size
      Tally.new(layer: "leaks:compare:quick", passed: planted.size - wrong + clean.size - blamed,
                failed: wrong + blamed)
    end

    # Compare, and write the page.
    def write
      run
      text = tables
      page = File.read(FILE, encoding: "UTF-8")
      abort "#{FILE} has lost its marks" unless page.match?(MARKS)
      File.write(FILE, page.sub(MARKS) { text })
      puts text
    end

    private

    # @answers: { tool => { program => [Answer …] } }, the tools one after the other in each round.
    def run
      @answers = Hash.new { |answers, tool| answers[tool] = Hash.new { |runs, name| runs[name] = [] } }
      @rounds.times do
        @programs.each do |name, source|
          path = File.join(LeakCorpus::DIRECTORY, "#{name}.rb")
          File.write(path, source)
          LeakTools.all.each { |tool| @answers[tool.name][name] << tool.run(path) }
          @answers["plain"][name] << LeakTools.answer(RbConfig.ruby, path) { [] }
        end
      end
      look_again if agreeing("heapline") < planted.size
    ensure
      FileUtils.rm_rf(LeakCorpus::DIRECTORY)
    end

    # A word may look like a pointer by chance; not in the next run too.
    def look_again
      path = File.join(LeakCorpus::DIRECTORY, "lost.rb")
      @answers["heapline"]["lost"].unshift(LeakTools::Heapline.new.run(path))
    end

    def planted
      @planted ||= (LeakCorpus.lost + LeakCorpus::RUBY).to_h { |name| [name, LeakCorpus.expected(name)] }
    end

    def clean
      LeakCorpus.clean + LeakCorpus::CLEAN_METHODS
    end

    # Of the first round.
    def found(tool, program)
      @answers[tool][program].first.found.slice(*(program == "lost" ? planted.keys : clean))
    end

    def tools
      LeakTools.all.map(&:name)
    end

    def tables
      "#{head}\n\n#{summary}\n#{differences}\n"
    end

    def head
      valgrind = Shell.capture("valgrind", "--version").last[/[\d.]+/]
      gcc = Shell.capture("gcc", "-dumpversion").last.strip
      "Ruby #{RUBY_VERSION}, Valgrind #{valgrind}, LeakSanitizer of gcc #{gcc}; " \
        "median of #{@rounds} round#{"s" if @rounds > 1}, elapsed time and processor time."
    end

    def summary
      rows = [["losses in their class"] + tools.map { |tool| "#{agreeing(tool)} of #{planted.size}" },
              ["clean cases blamed"] + tools.map { |tool| "#{found(tool, "clean").size} of #{clean.size}" }]
      @programs.each_key { |program| rows << [time_title(program), *tools.map { |tool| time(tool, program) }] }
      table(["", *tools], rows)
    end

    def agreeing(tool)
      planted.count { |name, blocks| found(tool, "lost")[name] == blocks }
    end

    def time_title(program)
      plain = @answers["plain"][program].map(&:cpu)
      names = { "lost" => "the losses", "clean" => "the clean cases", "work" => "the losses and JSON and ERB work" }
      format("%<name>s (plain %<cpu>.1f s)", name: names[program], cpu: median(plain))
    end

    # "1.2 s, 0.6 s CPU"; of others how many times heapline's.
    def time(tool, program)
      wall, cpu = %i[wall cpu].map { |kind| median(@answers[tool][program].map(&kind)) }
      text = format("%<wall>.1f s, %<cpu>.1f s CPU", wall: wall, cpu: cpu)
      return text if tool == "heapline"

      ours = %i[wall cpu].map { |kind| median(@answers["heapline"][program].map(&kind)) }
      format("%<text>s: %<wall>.1f×, %<cpu>.1f×", text: text, wall: wall / ours[0], cpu: cpu / ours[1])
    end

    def median(numbers)
      numbers.sort[numbers.size / 2]
    end

    # The cases that not all see as they were planted.
    def differences
      rows = planted.reject { |name, blocks| tools.all? { |tool| found(tool, "lost")[name] == blocks } }
                    .map do |name, blocks|
        ["`#{name}`", classes(blocks), *tools.map { |tool| classes(found(tool, "lost")[name] || [0, 0, 0]) }]
      end
      blamed = tools.flat_map { |tool| found(tool, "clean").keys }.uniq.map do |name|
        ["`#{name}`", "clean", *tools.map { |tool| classes(found(tool, "clean")[name] || [0, 0, 0]) }]
      end
      table(["case", "planted", *tools], rows + blamed)
    end

    def classes(blocks)
      parts = LeakTools::KINDS.zip(blocks).reject { |_, count| count.zero? }.map { |kind, count| "#{count} #{kind}" }
      parts.empty? ? "-" : parts.join(", ")
    end

    def table(head, rows)
      [head, head.map { "---" }, *rows].map { |row| "| #{row.join(" | ")} |\n" }.join
    end
  end
end
