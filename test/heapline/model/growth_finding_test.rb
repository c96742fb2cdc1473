# frozen_string_literal: true

require "test_helper"
require "heapline/model/growth_finding"

class GrowthFindingTest < Minitest::Test
  def test_values_are_frozen
    finding = Heapline::Model::GrowthFinding.new(kind: :memory, slope: 4.0)
    assert_predicate finding, :frozen?
    assert_equal [], finding.lines
    growth = Heapline::Model::BlockGrowth.new(findings: [finding], iterations: 410, own_thread: false)
    assert_predicate growth, :frozen?
    assert_predicate growth, :grown?
    refute_predicate Heapline::Model::BlockGrowth.new(findings: []), :grown?
  end

  def test_a_line_says_where
    line = Heapline::Model::RetainedLine.new(path: "app.rb", lineno: 12, class_name: "String", number: 1, bytes: 40)
    assert_equal "app.rb:12", line.location
    assert_equal "(unknown)", Heapline::Model::RetainedLine.new(class_name: "String").location
  end
end
