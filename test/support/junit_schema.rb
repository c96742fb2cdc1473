# frozen_string_literal: true

require "rexml/document"

# What CI systems read of JUnit's XML, as a table; and that the sums in it are right. A program too: it reads its
# standard input and prints what is wrong with it, a line each. (The bundle has no XML reader, Ruby itself mostly has.)
module JunitSchema
  # Element → [attributes that it must have, children that it may have].
  ELEMENTS = {
    "testsuites" => [%w[name tests failures], %w[testsuite]],
    "testsuite" => [%w[name tests failures errors], %w[testcase system-out]],
    "testcase" => [%w[classname name], %w[failure]],
    "failure" => [%w[type message], []],
    "system-out" => [[], []]
  }.freeze

  module_function

  # What is wrong with the text: Array of Strings.
  def complaints(text)
    root = REXML::Document.new(text).root
    (root.name == "testsuites" ? [] : ["the root is #{root.name}"]) + of_element(root)
  rescue REXML::ParseException => e
    ["no XML: #{e.message.lines.first}"]
  end

  def of_element(element)
    attributes, children = ELEMENTS.fetch(element.name) { return ["there is no #{element.name}"] }
    strange = element.elements.map(&:name) - children
    differing = element.attributes.keys.sort == attributes.sort ? [] : ["attributes of #{element.name}"]
    differing + strange.map { |name| "#{name} in #{element.name}" } + sums(element) +
      element.elements.flat_map { |child| of_element(child) }
  end

  def sums(element)
    { "tests" => "testcase", "failures" => "failure" }.filter_map do |name, counted|
      said = element.attributes[name]
      "#{name} of #{element.name}" if said && said.to_i != REXML::XPath.match(element, ".//#{counted}").size
    end
  end
end

puts JunitSchema.complaints($stdin.read)
