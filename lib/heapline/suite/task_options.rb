# frozen_string_literal: true

require_relative "../cli/installation"

module Heapline
  module Suite
    # What the Rake tasks have beyond those that they descend from: the options of `heapline test`.
    module TaskOptions
      # Arrays or Strings and numbers, as on the command line of `heapline test`. Unless set, fail_on is growth.
      attr_accessor :by, :sort, :top, :output
      attr_writer :fail_on

      def fail_on
        defined?(@fail_on) ? @fail_on : %w[growth]
      end

      # The words before the command that runs the tests.
      def heapline_words
        given = { "--fail-on" => fail_on && Array(fail_on).join(","), "--by" => by, "--sort" => sort, "--top" => top,
                  "--output" => output }
        options = given.reject { |_, value| value.nil? || value == "" }.flat_map { |name, value| [name, value.to_s] }
        [*CLI::Installation.own_process("test"), *options, "--"]
      end
    end
  end
end
