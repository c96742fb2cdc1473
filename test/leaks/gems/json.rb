# frozen_string_literal: true

require "json"

value = { "numbers" => [1, -2.5, 1e100, 10**30], "text" => "a\u00e9\n\u{1f600}" * 50, "deep" => [[[{ "a" => nil }]]] }
50.times do
  JSON.parse(JSON.generate(value))
  JSON.pretty_generate(value)
  JSON.parse("{\"a\": [1, 2", symbolize_names: true)
rescue JSON::ParserError
  JSON.parse("[1.5]", decimal_class: nil)
end
