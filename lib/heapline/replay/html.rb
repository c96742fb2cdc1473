# frozen_string_literal: true

require_relative "svg"
require_relative "variant_table"
require_relative "words"

module Heapline
  class Replay
    # A Replay::Comparison as one HTML file that needs nothing else, not even a script: its policy allows the
    # one style that is in it.
    # @api private
    class Html
      POLICY = "default-src 'none'; style-src '%<style>s'; base-uri 'none'; form-action 'none'"
      STYLE = <<~CSS.freeze
        :root { color-scheme: light dark; }
        body { margin: 0 auto; max-width: 1000px; padding: 20px; background: #f7f6f4; color: #1d1b19;
               font: 14px/1.45 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
        h1 { font-size: 20px; } h2 { font-size: 16px; margin: 24px 0 8px; } p { margin: 4px 0; } .soft { color: #5f5a54; }
        table { border-collapse: collapse; width: 100%; } th, td { padding: 4px 10px; text-align: right; white-space: nowrap; }
        th { color: #5f5a54; font-weight: 500; } tr { border-bottom: 1px solid #dedbd6; }
        th:last-child, td:last-child { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 11em; }
        /* On a narrow screen the names stay while the figures move. */
        @media (max-width: 900px) { th:last-child, td:last-child { position: sticky; right: 0; background: inherit; } }
        tr { background: #f7f6f4; } .scroll { overflow-x: auto; } .plot { width: 100%; min-width: 560px; height: auto; }
        @media (prefers-color-scheme: dark) {
          body { background: #151413; color: #eeebe7; } .soft, th { color: #aaa39b; } tr { border-color: #3b3835; background: #151413; }
        }
        #{Svg::STYLE}
      CSS
      BODY = <<~HTML
        <h1>Replay of %<title>s</h1>
        %<body>s
        </body>
        </html>
      HTML

      # Write the page to `io`.
      def render(comparison, io)
        title = comparison.plan.name
        io.write(Page::Document.head(title, policy: POLICY, style: STYLE),
                 format(BODY, title: escape(title), body: body(comparison, Words.new(comparison)).join("\n")))
      end

      private

      def body(comparison, words)
        advice = words.advice.map { |parts| parts.join(" · ") }
        [soft(words.facts.drop(1)), soft(words.manner), section("Recommendation", lines(advice)),
         section("Figures", table(comparison)), picture(comparison), *notes(comparison)]
      end

      def escape(text)
        Page::Document.escape(Inert.text(text))
      end

      def soft(parts)
        %(<p class="soft">#{parts.map { |part| escape(part) }.join(" · ")}</p>)
      end

      def lines(texts)
        texts.map { |text| "<p>#{escape(text)}</p>" }.join
      end

      def section(title, markup)
        "<h2>#{title}</h2>\n#{markup}"
      end

      def table(comparison)
        columns = Columns.new(comparison)
        rows = comparison.variants.sort_by { |variant| variant.estimate(columns.sort).median }
        head = [*columns.all.map(&:title), "allocator"].map { |title| "<th scope=\"col\">#{title}</th>" }.join
        body = rows.map do |variant|
          cells = [*columns.all.map { |column| column.text(variant) }, variant.name]
          "<tr>#{cells.map { |cell| "<td>#{escape(cell)}</td>" }.join}</tr>"
        end
        scrolling("<table><thead><tr>#{head}</tr></thead><tbody>#{body.join}</tbody></table>")
      end

      def scrolling(markup)
        "<div class=\"scroll\">#{markup}</div>"
      end

      def picture(comparison)
        comparison.time_only ? "" : section("RSS over the calls", scrolling(Svg.new.figure(comparison)))
      end

      def notes(comparison)
        { "Not measured" => comparison.missing, "Not read" => comparison.problems }.filter_map do |title, texts|
          section(title, lines(texts)) unless texts.empty?
        end
      end
    end
  end
end
