# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/doctor/doctor_command"
require "heapline/doctor/checks"

module Heapline
  module Doctor
    class DoctorCommandTest < Minitest::Test
      include CliHelper

      def run_with(*findings, options: [])
        replacing(Doctor::Checks, :new, Struct.new(:findings).new(findings)) { heapline("doctor", *options) }
      end

      def test_all_is_well
        result = run_with(Doctor::Finding.new(name: "Ruby", state: :ok, text: "3.1"))
        assert_equal [0, "ok       Ruby          3.1\nheapline works here\n"], [result.status, result.out]
      end

      def test_a_problem_is_status_1_and_names_its_remedy
        result = run_with(Doctor::Finding.new(name: "core", state: :problem, text: "missing", remedy: "rake compile"))
        assert_equal 1, result.status
        assert_match(/PROBLEM  core +missing\n +rake compile\n1 problem\n/, result.out)
      end

      def test_json
        finding = Doctor::Finding.new(name: "core", state: :problem, text: "missing", remedy: "rake compile")
        result = run_with(finding, options: %w[--format json])
        assert_equal 1, result.status
        assert_equal({ "schema_version" => 1, "works" => false,
                       "findings" => [finding.to_h.transform_keys(&:to_s).merge("state" => "problem")] },
                     JSON.parse(result.out))
      end

      def test_a_note_is_no_problem
        assert_equal 0, run_with(Doctor::Finding.new(name: "x", state: :note, text: "y")).status
      end

      def test_takes_no_arguments
        assert_equal 2, heapline("doctor", "x").status
      end
    end
  end
end
