# frozen_string_literal: true

require "digest"
require "json"
require_relative "../inert"

module Heapline
  module Format
    class Html
      # One HTML file that needs nothing else: it works from a disk or a mail, and its own policy keeps the browser
      # from loading, sending or running anything but the script and the style that are in it. Data is JSON in a block
      # that is no script. The scripts and the style are made from assets/ by `rake assets`.
      class Page
        ASSETS = __dir__
        # Names come in as data; require-trusted-types-for makes the browser refuse to read text as markup.
        POLICY = "default-src 'none'; script-src '%<script>s'; style-src '%<style>s'; img-src data:; " \
                 "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        PAGE = <<~HTML
          <!DOCTYPE html>
          <html lang="en">
          <head>
          <meta charset="utf-8">
          <meta http-equiv="Content-Security-Policy" content="%<policy>s">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <meta name="referrer" content="no-referrer">
          <title>%<title>s</title>
          <style>%<style>s</style>
          </head>
          <body>
          <noscript>This report is shown by a script that is part of it: allow scripts for this file.</noscript>
          <script type="application/json" id="data">%<data>s</script>
          <script>%<script>s</script>
          </body>
          </html>
        HTML
        ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;" }.freeze

        # `text` for the page's markup; it is made inert before.
        def self.escape(text)
          text.gsub(/[&<>"]/, ESCAPES)
        end

        # script: name of the script in ASSETS
        def initialize(script)
          @script = script
        end

        # Write the page to `io`; data: Hash that the script reads; title: of the page, made inert here.
        def write(io, title:, data:)
          script = asset(@script)
          style = asset("report.css")
          policy = format(POLICY, script: digest(script), style: digest(style))
          io.write(format(PAGE, policy: policy, title: heading(title), style: style, script: script, data: json(data)))
        end

        private

        def asset(name)
          File.read(File.join(ASSETS, name), encoding: "UTF-8")
        end

        # As the policy names what is between the tags.
        def digest(text)
          "sha256-#{[Digest::SHA256.digest(text)].pack("m0")}"
        end

        # Nothing in it can end the block that it stands in.
        def json(data)
          JSON.generate(data).gsub("<", '\u003c')
        end

        def heading(title)
          Page.escape("#{Inert.text(title)} · heapline")
        end
      end
    end
  end
end
