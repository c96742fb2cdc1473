# frozen_string_literal: true

require_relative "support"

# The gate over the HTML report's script and style, with a bundle, a lock file and a builder that are wrong.
class AssetsTest < Minitest::Test
  include BadTree

  # Builds what it is told to.
  Builder = Struct.new(:built, :complaints) do
    def build(folder)
      raise Tasks::Assets::Failure, "npm ci failed" if built.nil?

      built.each { |name, content| File.write(File.join(folder, name), content) }
    end
  end

  BUILT = { "report.js" => "1;\n", "heap.js" => "2;\n", "leaks.js" => "3;\n",
            "capture.js" => "4;\n", "report.css" => "b{}\n" }.freeze
  GOOD = { "assets/src/main.ts" => "1;", "assets/package-lock.json" => "{}",
           **BUILT.transform_keys { |name| "lib/heapline/page/#{name}" } }.freeze

  def problems(changes = {}, built: BUILT, complaints: [])
    in_tree(GOOD.merge(changes).compact) do |root|
      return Tasks::AssetsGate.new(root, assets: Builder.new(built, complaints)).problems.join("\n")
    end
  end

  def test_as_it_should_be
    assert_empty problems
  end

  def test_a_bundle_that_differs_in_a_byte_or_is_not_there
    assert_match(%r{report\.js is not what assets/ gives}, problems({ "lib/heapline/page/report.js" => "1;" }))
    assert_match(%r{heap\.js is not what assets/ gives}, problems({ "lib/heapline/page/heap.js" => "" }))
    assert_match(%r{report\.css is not what assets/ gives}, problems({ "lib/heapline/page/report.css" => nil }))
  end

  def test_a_lock_file_with_addresses
    lock = "{\"resolved\": \"https://registry.example/a.tgz\"}"
    assert_match(/names a registry's address/, problems({ "assets/package-lock.json" => lock }))
  end

  def test_a_type_error_and_a_build_that_fails
    assert_match(/TS2322/, problems(complaints: ["assets: tsc\nTS2322"]))
    assert_match(/npm ci failed/, problems(built: nil))
  end

  def test_a_tool_that_fails_is_named
    error = assert_raises(Tasks::Assets::Failure) do
      Tasks::Assets.new.send(:run, "no-such-npm", "ci", dir: Tasks::ROOT)
    end
    assert_match(%r{no-such-npm ci failed \(script/setup --develop}, error.message)
  end

  def test_nothing_to_check
    in_tree("README.md" => "x") { |root| assert_match(/nothing to check/, Tasks::AssetsGate.new(root).problems.join) }
  end
end
