# frozen_string_literal: true

require "racc/parser"
require "racc/parser-text"
require "racc/grammarfileparser"
require "racc/parserfilegenerator"

GRAMMAR = <<~TEXT
  class Calculator
  prechigh
    left '*'
    left '+'
  preclow
  rule
    target: sum
    sum: sum '+' sum { result = val[0] + val[2] } | sum '*' sum { result = val[0] * val[2] } | NUMBER
  end
TEXT
file = Racc::GrammarFileParser.new.parse(GRAMMAR, "calculator.y", 1)
states = Racc::States.new(file.grammar).nfa
states.dfa
params = file.params.dup
params.omit_action_call = true
eval(Racc::ParserFileGenerator.new(states, params).generate_parser, TOPLEVEL_BINDING, "calculator.rb") # rubocop:disable Security/Eval

# Its tokens, one after the other.
class Calculator
  def initialize(tokens) = @tokens = tokens
  def next_token = @tokens.shift || [false, nil]
  def calculate = do_parse
end
100.times do
  Calculator.new([[:NUMBER, 2], ["+", "+"], [:NUMBER, 3], ["*", "*"], [:NUMBER, 4]]).calculate
  Calculator.new([[:NUMBER, 2], ["+", "+"]]).calculate
rescue Racc::ParseError
  Calculator.new([[:NUMBER, 2]]).calculate
end
