# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "addressable"

# Addresses are taken apart, joined, normalized and made of templates.
Workload.run(full: 6_000, quick: 20) do |rounds|
  template = Addressable::Template.new("https://{host}/shops/{shop}{/path*}{?query*}")
  base = Addressable::URI.parse("http://Example.COM:80/a/b/../c/%7Ename/./d?x=1&y=zwei%20drei#part")
  answers = Array.new(rounds) do |round|
    expanded = template.expand("host" => "www.example.org", "shop" => round.to_s, "path" => %w[articles new],
                               "query" => { "page" => (round % 10).to_s, "q" => "größe m" })
    [base.normalize.to_s, base.join("../e/#{round}?z=3").to_s, expanded.to_s, expanded.query_values["q"]].join(" ")
  end
  Workload.check(answers.last.include?("http://example.com/a/c/~name/d?x=1&y=zwei%20drei#part"), answers.last)
  Workload.check(answers.last.end_with?("größe m"), answers.last)
  answers.join("\n")
end
