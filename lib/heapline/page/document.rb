# frozen_string_literal: true

require "digest"
require "json"
require_relative "../terminal/inert"

module Heapline
  module Page
    # One HTML file that needs nothing else: it works from a disk or a mail, and its own policy keeps the browser
    # from loading, sending or running anything but the script and the style that are in it. Data is JSON in a block
    # that is no script. The scripts and the style are made from assets/ by `rake assets`.
    class Document
      ASSETS = __dir__
      # Names come in as data; require-trusted-types-for makes the browser refuse to read text as markup.
      POLICY = "default-src 'none'; script-src '%<script>s'; style-src '%<style>s'; img-src data:; " \
               "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
      HEAD = <<~HTML
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
      HTML
      BODY = <<~HTML
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

      # A page down to its body, as text. title: made inert here. policy: of what may be in it, with places for the
      # hashes of its style (text) and of `others`.
      def self.head(title, policy:, style:, **others)
        policy = format(policy, style: digest(style), **others.transform_values { |text| digest(text) })
        format(HEAD, policy: policy, title: escape("#{Inert.text(title)} · heapline"), style: style)
      end

      # As the policy names what is between the tags.
      def self.digest(text)
        "sha256-#{[Digest::SHA256.digest(text)].pack("m0")}"
      end
      private_class_method :digest

      # script: name of the script in ASSETS
      def initialize(script)
        @script = script
      end

      # Write the page to `io`; data: Hash that the script reads; title: of the page, made inert here.
      def write(io, title:, data:)
        script = asset(@script)
        io.write(Document.head(title, policy: POLICY, style: asset("report.css"), script: script),
                 format(BODY, script: script, data: json(data)))
      end

      private

      def asset(name)
        File.read(File.join(ASSETS, name), encoding: "UTF-8")
      end

      # Nothing in it can end the block that it stands in.
      def json(data)
        JSON.generate(data).gsub("<", '\u003c')
      end
    end

    # Markup of pictures. They have no script and name nothing that a reader would load.
    module Svg
      NAMESPACE = "http://www.w3.org/2000/svg"

      # The element of a picture. attributes: its class, viewBox …; label: what it shows, for who does not see it.
      # style: the rules that it brings with it, "" within a page that has them.
      def self.picture(content, label:, style: "", **attributes)
        rules = "<style>#{style}</style>" unless style.empty?
        all = pairs({ xmlns: NAMESPACE, **attributes, role: "img", "aria-label": label })
        %(<svg #{all}>#{rules}#{content}</svg>\n)
      end

      # Words at a place, in a class of the style.
      def self.text(across, down, kind, words)
        %(<text class="#{kind}" x="#{across}" y="#{down}">#{escape(words)}</text>)
      end

      # `text` from outside, as markup.
      def self.escape(text)
        Document.escape(Inert.text(text))
      end

      def self.pairs(attributes)
        attributes.map { |name, value| %(#{name}="#{escape(value.to_s)}") }.join(" ")
      end
      private_class_method :pairs
    end
  end
end
