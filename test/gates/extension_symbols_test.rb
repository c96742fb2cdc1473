# frozen_string_literal: true

require_relative "support"

# The gate over the extensions' face to the linker.
class ExtensionSymbolsTest < Minitest::Test
  include BadTree

  GOOD = "void %<init>s(void);\nvoid %<init>s(void) {}\n"
  BAD = "#{GOOD}int shown;\n".freeze

  def problems(native, heap)
    in_tree("lib/heapline/keep" => "") do |root|
      { "native" => native, "heap" => heap, "capture" => GOOD, "corefile" => GOOD }.each do |name, source|
        next unless source

        more = name == "native" ? "void heapline_twin(void);\nvoid heapline_twin(void) {}\n" : ""
        File.write(File.join(root, "x.c"), format(source, init: "Init_#{name}") + more)
        library = File.join(root, "lib/heapline/#{name}.so")
        ok, output = Tasks::Shell.capture("gcc", "-shared", "-fPIC", "-o", library, "x.c", dir: root)
        assert ok, output
      end
      return Tasks::ExtensionSymbolsGate.new(root).problems
    end
  end

  def test_extensions_as_they_should_be
    assert_empty problems(GOOD, GOOD)
  end

  def test_a_name_too_many
    assert_match(/heap\.so exports Init_heap, shown; it should Init_heap alone/, problems(GOOD, BAD).join)
  end

  def test_an_extension_that_is_not_there
    assert_match(/native\.so is not there/, problems(nil, GOOD).join)
  end
end
