# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "mail"

# Messages with an attachment are written, read again and asked for their parts.
module Letters
  def self.letter(number)
    Mail.new(charset: "UTF-8") do
      from "Ada Byron <ada@example.com>"
      to(Array.new(5) { |i| "reader #{i} <reader#{i}@example.org>" })
      subject "Zusammenfassung für Woche #{number}"
      text_part do
        content_type "text/plain; charset=UTF-8"
        body "Grüße aus Woche #{number}.\n" * 20
      end
      html_part do
        content_type "text/html; charset=UTF-8"
        body "<p>Grüße aus <b>Woche #{number}</b>.</p>\n" * 20
      end
      add_file filename: "figures.csv", content: Array.new(100) { |i| "#{i},#{i * number}\n" }.join
    end
  end

  def self.read(text)
    mail = Mail.new(text)
    [mail.subject, mail.to.size, mail.text_part.decoded.size, mail.html_part.decoded.size,
     mail.attachments.map { |file| [file.filename, file.decoded.size] }]
  end
end

Workload.run(full: 200, quick: 2) do |letters|
  answers = Array.new(letters) { |number| Letters.read(Letters.letter(number).encoded) }
  Workload.check(answers.last[1] == 5, "not all addresses were read")
  Workload.check(answers.last.last.first.first == "figures.csv", "the attachment is gone")
  answers.join(" ")
end
