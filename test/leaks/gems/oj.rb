# frozen_string_literal: true

require "oj"

value = { "numbers" => [1, -2.5, 10**30], "text" => "a\u00e9\n" * 50, "deep" => [[{ "a" => nil }]] }
50.times do
  Oj.load(Oj.dump(value, mode: :compat), mode: :strict)
  Oj::Doc.open("[1,{\"a\":2}]") { |document| document.fetch("/2/a") }
  Oj::StringWriter.new(mode: :compat).tap { |writer| writer.push_object && writer.pop }.to_s
  Oj.load("[1, 2")
rescue Oj::ParseError
  Oj.sc_parse(Object.new, "[1]")
end
