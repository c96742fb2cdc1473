# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/doctor/doctor_command"
require "heapline/doctor/checks"

module Heapline
  module Doctor
    class ChecksTest < Minitest::Test
      # What a probe found, without running one.
      FakeProbe = Struct.new(:snapshot, :error, :attribution, :said, :jit_told?)
      Shot = Struct.new(:allocator, :attribution, :failures, :objects, :layout)
      LAYOUT = { outcome: :known, lines: 8, looks: 6, milliseconds: 0.348, found: "", missing: "" }.freeze

      def found(probe, env = {})
        replacing(Command::Installation, :core, "/x/libheapline.so") do
          replacing(Probe, :new, probe) { Checks.new(env).findings.to_h { |finding| [finding.name, finding] } }
        end
      end

      def probe(way: :frames, attribution: { "method" => true }, objects: [], said: nil, jit_told: true,
                layout: {})
        FakeProbe.new(Shot.new("glibc 2.36", way, {}, objects, LAYOUT.merge(layout)), nil, attribution, said, jit_told)
      end

      def test_all_is_well
        states = found(probe).values_at("Ruby", "heapline", "core", "extension", "preload", "lines", "attribution",
                                        "objects")
        assert_equal [:ok], states.map(&:state).uniq
      end

      # Where this Ruby has one that can be enabled.
      def test_a_jit_whose_memory_is_not_told_apart_is_a_note
        has_one = defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enable)
        states = [probe, probe(jit_told: false)].map { |each| found(each)["JIT"]&.state }
        assert_equal has_one ? %i[ok note] : [nil, nil], states
      end

      def test_the_public_way_is_a_note
        assert_equal :note, found(probe(way: :public))["lines"].state
      end

      def test_what_is_known_of_ruby
        finding = found(probe)["layout"]
        assert_equal :ok, finding.state
        assert_equal "Ruby's structs are those that heapline knows for this version; 8 lines were compared with what " \
                     "Ruby itself says, in 0.35 ms of processor time", finding.text
        found_out = found(probe(layout: { outcome: :found, found: "frame_size 64", missing: "ec_tag" }))["layout"]
        assert_equal :ok, found_out.state
        assert_match(/found their fields: frame_size 64; .*and not used: ec_tag\z/, found_out.text)
        no_row = found(probe(layout: { outcome: :found, found: "" }))["layout"]
        assert_match(/their fields: each as in the newest version that heapline knows; /, no_row.text)
      end

      def test_what_is_not_known_of_ruby
        findings = %i[refused open unasked].map { |outcome| found(probe(layout: { outcome: outcome }))["layout"] }
        assert_equal [:note], findings.map(&:state).uniq
        findings.each { |finding| refute_nil finding.remedy }
        assert_equal "HEAPLINE=api: heapline does not read Ruby's structs", findings.last.text
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
        replacing(Command::Installation, :core, -> { raise Error, "the core is not compiled; run `rake compile`" }) do
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
