# frozen_string_literal: true

module Tasks
  # The walks of docs/architecture.md lead through the code as it is: each step names a file and, as `name()`, functions
  # that stand in it; a list is short enough to be read.
  class WalksGate < Gate
    PAGE = "docs/architecture.md"
    SECTION = /^## Three walks\n(.*?)(?=^## |\z)/m
    STEP = /^(\d+)\. \[[^\]]+\]\(([^)]+)\):(.*?)(?=^\S|\z)/m
    NAMED = /`(\w+[?!]?)\(\)`/
    MOST = 6

    private

    def patterns
      [PAGE]
    end

    def check
      steps = section.scan(STEP).map { |number, link, text| [number.to_i, link.delete_prefix("../"), text] }
      return ["#{PAGE} has no walk"] if steps.empty?

      lists = steps.slice_when { |_, (number, _, _)| number == 1 }
      lists.flat_map { |list| long(list) } + steps.flat_map { |_, path, text| strange(path, text) }
    end

    def section
      File.read(File.join(@root, PAGE), encoding: "UTF-8")[SECTION, 1].to_s
    end

    def long(list)
      paths = list.map { |_, path, _| path }.uniq
      paths.size > MOST ? ["#{PAGE}: a walk goes through #{paths.size} files, #{paths.first} to #{paths.last}"] : []
    end

    def strange(path, text)
      file = File.join(@root, path)
      return ["#{PAGE}: a walk goes through #{path}, which is not there"] unless File.file?(file)

      code = File.read(file, encoding: "UTF-8")
      text.scan(NAMED).flatten.grep_v(->(name) { has?(code, name) })
          .map { |name| "#{PAGE}: a walk names #{name}(), which #{path} does not have" }
    end

    # A function in C, which begins in a line of its own at its margin; or a method in Ruby.
    def has?(code, name)
      word = Regexp.escape(name)
      code.match?(/^[a-zA-Z].*\b#{word}\(/) || code.match?(/^\s*def (self\.)?#{word}(?!\w)/)
    end
  end
end
