# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/cli/doctor"
require "heapline/cli/doctor/checks"

module Heapline
  module CLI
    class Doctor
      class ChecksTest < Minitest::Test
        # What a probe found, without running one.
        FakeProbe = Struct.new(:snapshot, :error, :attribution, :said)
        Shot = Struct.new(:allocator, :attribution, :failures, :objects)

        def found(probe, env = {})
          replacing(Installation, :core, "/x/libheapline.so") do
            replacing(Probe, :new, probe) { Checks.new(env).findings.to_h { |finding| [finding.name, finding] } }
          end
        end

        def probe(way: :frames, attribution: { "method" => true }, objects: [], said: nil)
          FakeProbe.new(Shot.new("glibc 2.36", way, {}, objects), nil, attribution, said)
        end

        def test_all_is_well
          states = found(probe).values_at("Ruby", "heapline", "core", "extension", "preload", "lines", "attribution",
                                          "objects")
          assert_equal [:ok], states.map(&:state).uniq
        end

        def test_the_public_way_is_a_note
          assert_equal :note, found(probe(way: :public))["lines"].state
        end

        def test_wrong_lines_are_a_problem
          finding = found(probe(attribution: { "method" => true, "eval" => false }))["attribution"]
          assert_equal [:problem, "wrong in eval"], [finding.state, finding.text]
        end

        def test_ruby_objects
          assert_equal [:ok, "Ruby objects can be counted: heapline --objects"],
                       found(probe)["objects"].to_h.values_at(:state, :text)
          assert_match(/\(on: HEAPLINE has it\)/, found(probe, { "HEAPLINE" => "quiet,objects" })["objects"].text)
          finding = found(probe(objects: nil, said: "native.so is of another Ruby"))["objects"]
          assert_equal [:note, "Ruby objects cannot be counted here: native.so is of another Ruby"],
                       [finding.state, finding.text]
        end

        def test_a_core_that_does_not_run
          finding = found(FakeProbe.new(nil, "ended with SIGSEGV", nil))["preload"]
          assert_equal [:problem, "ended with SIGSEGV"], [finding.state, finding.text]
        end

        def test_a_missing_core_ends_the_trial
          replacing(Installation, :core, -> { raise Error, "the core is not compiled; run `rake compile`" }) do
            finding = Checks.new({}).findings.find { |one| one.name == "core" }
            assert_equal [:problem, "run `rake compile`"], [finding.state, finding.remedy]
          end
        end

        def test_the_environment
          findings = found(probe, { "HEAPLINE" => "quite", "LD_PRELOAD" => "/lib/jemalloc.so" })
          assert_equal %i[problem note], findings.values_at("environment", "LD_PRELOAD").map(&:state)
        end
      end
    end
  end
end
