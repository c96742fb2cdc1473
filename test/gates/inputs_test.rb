# frozen_string_literal: true

require_relative "support"

# The gate over what reads files, with what reads beside the one reader.
class InputsGateTest < Minitest::Test
  include BadTree

  def test_this_checkout
    assert_empty Tasks::InputsGate.new.problems
  end

  def test_a_read_of_its_own
    ["File.read(path)", "IO.read(path)", "File.open(path) { |file| file.gets }", "File.open(path, \"rb\", &:read)",
     "File.foreach(path)", "Zlib::GzipReader.new(io)", "IO.copy_stream(path, io)"].each do |code|
      assert_gate(%r{lib/heapline/x\.rb:2 reads beside Heapline::Input}, good: tree("Input.text(path)"),
                                                                         bad: tree(code)) do |root|
        Tasks::InputsGate.new(root)
      end
    end
  end

  def test_what_is_written_and_what_the_kernel_tells
    ["File.open(path, \"wb\")", "File.open(path, File::WRONLY | File::CREAT)",
     "File.read(\"/proc/self/status\")"].each do |code|
      in_tree(tree(code)) { |root| assert_empty Tasks::InputsGate.new(root).problems, code }
    end
  end

  def test_an_exception_that_is_none_any_more
    assert_gate(/is an exception of the inputs gate/, good: { "lib/heapline/files/input.rb" => "File.open(name)\n" },
                                                      bad: { "lib/heapline/files/input.rb" => "\n" }) do |root|
      Tasks::InputsGate.new(root)
    end
  end

  def tree(code)
    { "lib/heapline/x.rb" => "# reads\n#{code}\n" }
  end
end
