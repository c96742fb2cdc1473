# frozen_string_literal: true

require_relative "support"

# The gate over the rooms of the core, with arrows that run back up, circles, and rooms that do not say what they are.
class CoreRoomsTest < Minitest::Test
  include BadTree

  CORE = Tasks::CoreRoomsGate::CORE

  def self.first(room, uses, more = "")
    "/*\n * The room #{room}.\n *   owns: a thing\n *   invariant: it holds\n *   uses: #{uses}\n */\n" \
      "#ifndef H\n#define H\n#{more}#endif\n"
  end

  # The path in the core => what is in it.
  def self.tree(files)
    files.transform_keys { |path| "#{CORE}/#{path}" }
  end

  GOOD = tree(
    "heapline_core.h" => "int heapline_x(void);\n",
    "platform/platform.h" => first("platform", "none"),
    "platform/probe.c" => "#include \"platform/platform.h\"\n#include \"heapline_core.h\"\n" \
                          "int hl_probe(void);\nint hl_probe(void) { return heapline_x(); }\n",
    "account/lane.h" => first("account", "platform", "#include \"platform/platform.h\"\nint hl_lane(void);\n"),
    "account/lane.c" => "#include \"account/lane.h\"\nint hl_probe(void);\nint hl_lane(void) { return hl_probe(); }\n",
    "account/place.h" => "#include \"account/lane.h\"\n",
    "account/place.c" => "#include \"account/place.h\"\nint hl_place(void);\n" \
                         "int hl_place(void) { return hl_lane(); }\n",
    "interpose/interpose.h" => first("interpose", "account", "#include \"account/lane.h\"\n"),
    "interpose/interpose.c" => "#include \"interpose/interpose.h\"\nint munmap(void *, unsigned long);\n" \
                               "int munmap(void *a, unsigned long s) { return a && s && hl_lane(); }\n"
  ).freeze

  def test_this_checkout
    assert_empty Tasks::CoreRoomsGate.new.problems
    assert_empty Tasks::CoreRoomsGate.new(objects: Tasks::CoreRoomsGate.built).problems
  end

  # What is wrong => what is said of it, by the sources alone.
  BAD = {
    { "account/lane.c" => "#include \"interpose/interpose.h\"\n" } =>
      %r{account/lane includes interpose/interpose, which stands above it},
    { "platform/probe.c" => "#include \"account/place.h\"\n" } => %r{platform/probe includes account/place, which},
    { "strange/thing.c" => "" } => %r{strange/thing lies in no room},
    { "thing.h" => "" } => /thing lies in no room/,
    { "account/lane.h" => "#include \"account/place.h\"\n" } =>
      %r{2 files need each other in a circle: account/lane, account/place},
    { "account/a.h" => "#include \"account/b.h\"\n", "account/b.h" => "#include \"account/c.h\"\n",
      "account/c.h" => "#include \"account/d.h\"\n", "account/d.h" => "#include \"account/a.h\"\n" } =>
      %r{4 files need each other in a circle: account/a, account/b, account/c, account/d},
    { "account/lane.h" => first("accounting", "platform") } => /does not begin with "The room account\."/,
    { "account/lane.h" => first("account", "platform").sub(/ \*   owns.*\n/, "") } => /does not say "owns: …"/,
    { "account/lane.h" => first("account", "platform").sub("it holds", "") } => /does not say "invariant: …"/,
    { "account/lane.h" => first("account", "none", "#include \"platform/platform.h\"\n") } =>
      /does not say that the room uses platform/,
    { "flight/site_table.h" => "" } => %r{flight/flight\.h is not there: it says what the room owns}
  }.freeze

  def test_includes
    BAD.each do |change, pattern|
      bad = GOOD.merge(self.class.tree(change))
      assert_gate(pattern, good: GOOD, bad: bad) { |root| Tasks::CoreRoomsGate.new(root) }
    end
  end

  # The same, which only the objects show.
  CALLS = {
    { "platform/probe.c" => "int hl_lane(void);\nint hl_probe(void);\nint hl_probe(void) { return hl_lane(); }\n" } =>
      %r{platform/probe calls hl_lane of account/lane, which stands above it},
    { "platform/probe.c" => "extern int hl_word;\nint hl_probe(void);\nint hl_probe(void) { return hl_word; }\n",
      "account/word.c" => "int hl_word;\n" } => %r{platform/probe calls hl_word of account/word},
    { "platform/probe.c" => "int munmap(void *, unsigned long);\nint hl_probe(void);\n" \
                            "int hl_probe(void) { return munmap(0, 1); }\n" } =>
      %r{platform/probe calls munmap of interpose/interpose, which stands above it},
    { "account/lane.c" => "#include \"account/lane.h\"\nint hl_place(void);\nint hl_probe(void);\n" \
                          "int hl_lane(void) { return hl_place() + hl_probe(); }\n" } =>
      %r{2 files need each other in a circle: account/lane, account/place},
    { "account/lane.h" => first("account", "platform, state", "int hl_lane(void);\n") } =>
      /says that the room uses state, which it does not/
  }.freeze

  def test_calls
    CALLS.each do |change, pattern|
      assert_gate(pattern, good: GOOD, bad: GOOD.merge(self.class.tree(change))) { |root| compiled(root) }
    end
  end

  def test_a_core_that_was_not_compiled
    in_tree(GOOD) { |root| assert_match(/rake compile/, Tasks::CoreRoomsGate.new(root, objects: root).problems.join) }
  end

  private

  def compiled(root)
    Dir.glob("#{CORE}/*/*.c", base: root).each do |source|
      object = "#{File.basename(source, ".c")}.o"
      ok, output = Tasks::Shell.capture("gcc", "-c", "-I#{CORE}", "-o", object, source, dir: root)
      assert ok, output
    end
    Tasks::CoreRoomsGate.new(root, objects: root)
  end
end
