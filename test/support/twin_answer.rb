# frozen_string_literal: true

require "support/flight_builder"
require "heapline/processes/twin_pipe"

# Answers as the process of a flight file would that is asked for a twin.
module TwinAnswer
  AT = FlightBuilder::HEADER[:twin].first
  REQUEST = FlightBuilder::HEADER[:request].first
  FIRST = %({"type":"HEAPLINE","version":1,"pid":4711,"ruby":"ruby 3.4.1 (x)","time":"2026-11-21T10:00:00Z"}\n)
  LAST = %({"type":"HEAPLINE_END","lines":1}\n)

  # A thread that takes what is asked, and writes `text` into the reader's pipe; its value: what was asked, task and
  # flags.
  def answer_twin(path, text, problem: "", status: 0, pause_ns: 2_500_000)
    Thread.new do
      asked = await("nothing was asked") { File.binread(path, 8, AT).unpack1("Q").nonzero? }
      File.binwrite(path, [0].pack("Q"), AT)
      File.open(Heapline::Processes::TwinPipe.path(path, asked & 0xffffffff), "wb") do |pipe|
        answer = [File.binread(path, 8, AT + 8).unpack1("Q") + 1, pause_ns, 4712, status, problem]
        File.binwrite(path, answer.pack("QQLla128"), AT + 8)
        pipe.write(text)
      end
      asked >> 32
    end
  end

  # [what `heapline COMMAND OPTIONS` prints of this process, which answers with `text`; what was asked, task and flags].
  # For the tests of commands (CliHelper).
  def ask_twin(command, *options, text:)
    thread = answer_twin(own_flight, text)
    result = heapline(command, *options, *Heapline::TestHelper::PATIENTLY, Process.pid.to_s)
    assert_equal [0, ""], [result.status, result.err]
    [result.out, thread.value]
  end
end
