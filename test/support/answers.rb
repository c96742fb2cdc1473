# frozen_string_literal: true

require "json"
require_relative "flight_run"

# Runs Ruby code in a process under accounting, with heapline loaded, and hands back what it answered. In the code
# `answer name: value` says it; values are what JSON knows. The code begins at line 2.
module Answers
  include FlightRun

  SPEAK = "require 'json'; def answer(**values) = $stdout.puts(JSON.generate(values))\n"

  # Hash of all answers. The process must end well; loads: what it requires.
  def ask(text, *arguments, loads: "heapline", **others)
    answers_of(fly(SPEAK + text, *arguments, options: ["-I", Heapline::TestHelper::LIB, "-r#{loads}"], **others))
  end

  def answers_of(run)
    assert run.status.success?, "#{run.error}\n#{run.output}"
    run.output.lines.map { |line| JSON.parse(line, symbolize_names: true) }.reduce({}, :merge)
  end
end
