# frozen_string_literal: true

module Tasks
  # The tests of the HTML report in a real browser.
  module BrowserTests
    BROWSERS = %w[chromium chromium-browser google-chrome].freeze

    module_function

    # Why they cannot run here, or nil.
    def unavailable
      return "no Chromium: script/setup --develop installs it" unless BROWSERS.any? { |name| Shell.which(name) }

      "no node or npm: script/setup --develop installs them" unless Shell.which("node") && Shell.which("npm")
    end

    # Returns a Tally.
    def run
      ENV["HEAPLINE_AXE"] = File.join(Assets.new.package("axe-core"), "axe.min.js")
      MinitestRun.new("test:browser", Dir["test/browser/**/*_test.rb"]).run
    end
  end
end
