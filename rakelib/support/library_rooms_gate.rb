# frozen_string_literal: true

module Tasks
  # The rooms of lib/heapline: each is a folder, and requires and names only what stands before it here. So there is no
  # circle between rooms, and nothing but doors needs the command line. A folder that is no room is one thing wrong.
  class LibraryRoomsGate < Gate
    # What is below everything lies at the top: errors, extensions, version, clock.
    ROOMS = %w[files figures terminal places table page command objects accounting attach processes growth heap corefile
               leaks recording replay testing top web report doctor compat cli].freeze
    # Files that stand above all rooms: what programs require.
    DOORS = %w[auto capture capture/comparing checks cli format growth_reader heap_dump minitest mwrap rack railtie
               replay rspec rspec_task sidekiq test_task test_unit].freeze
    BELOW = %w[clock errors extension frozen version].freeze
    # Constants of another room, as "Growth::Json". Replay and Recording are classes of their rooms, too.
    NAMES = ROOMS.to_h { |room| [room == "cli" ? "CLI" : room.capitalize, room] }.freeze
    NAMED = /(?<![\w:.])(?:Heapline::)?(#{NAMES.keys.join("|")})::[A-Z]/
    ABSOLUTE = %r{\A\s*require "(heapline/[\w./]+)"}
    RELATIVE = %r{\A\s*require_relative "([\w./]+)"|\["(\.\./[a-z_]+/\w+)"}
    # What is compiled.
    BUILT = %w[heapline/native heapline/heap heapline/capture.so heapline/corefile.so].freeze
    REQUIRED = %r{\b(?:require_relative|require|autoload :\w+,) "([\w./]+)"|"(\.\./[\w./]+)"}

    private

    def patterns
      %w[lib/heapline/**/*.rb]
    end

    def check
      files.flat_map { |file| [*stranger(file), *arrows(file)] } + nowhere
    end

    # What is required and is not there, in the library and in all that uses it: a file that moved is missed by many.
    def nowhere
      Dir.glob("{lib,test,bench,rakelib,examples}/**/*.rb", base: @root).sort.flat_map do |file|
        File.foreach(File.join(@root, file), encoding: "UTF-8").filter_map do |line|
          path = named(file, line)
          "#{file} requires #{path}, which is not there" unless path.nil? || BUILT.include?(path) ||
                                                                File.exist?(File.join(@root, "lib/#{path}.rb"))
        end
      end
    end

    # "heapline/growth/json" of a line that requires it; nil of what is not ours.
    def named(file, line)
      return line[ABSOLUTE, 1] unless file.start_with?("lib/")

      path = line[RELATIVE, 1] || line[RELATIVE, 2]
      line[ABSOLUTE, 1] || (path && File.expand_path(path, "/#{File.dirname(file)}").delete_prefix("/lib/"))
    end

    def path(file)
      file.delete_prefix("lib/heapline/").delete_suffix(".rb")
    end

    # Where a path stands: 0 below all rooms, above all of them a door.
    def place(path)
      return ROOMS.size + 1 if DOORS.include?(path)
      return 0 if BELOW.include?(path)

      room = path[%r{\A(\w+)/}, 1]
      ROOMS.index(room)&.+(1)
    end

    def stranger(file)
      "#{file} lies in no room; there are #{ROOMS.join(", ")}" unless place(path(file))
    end

    def arrows(file)
      own = place(path(file)) or return []

      lines = File.readlines(File.join(@root, file), encoding: "UTF-8")
      lines.each_with_index.reject { |line, _| line.match?(/\A\s*#/) }.flat_map do |line, i|
        above(file, own, line).map { |what| "#{file}:#{i + 1} uses #{what}, which stands above it" }
      end
    end

    # What a line needs of rooms above `own`.
    def above(file, own, line)
      names = line.scan(NAMED).flatten.map { |name| "#{NAMES.fetch(name)}/" }
      paths = line.scan(REQUIRED).flatten.compact.filter_map { |text| required(file, text) }
      (names + paths).uniq.select { |target| place(target).to_i > own }
    end

    # "growth/json" of what a file requires; nil of what is not ours.
    def required(file, text)
      return text[%r{\Aheapline/(.+)}, 1] if text.start_with?("heapline/")
      return unless text.match?(%r{\A\.\./|\A[a-z_]+(/[a-z_]+)*\z})

      target = File.expand_path(text, "/#{File.dirname(file)}").delete_prefix("/lib/heapline/")
      target if File.exist?(File.join(@root, "lib/heapline", "#{target}.rb"))
    end
  end
end
