# frozen_string_literal: true

require "strscan"

200.times do
  scanner = StringScanner.new("some words = 12 + 3" * 20)
  until scanner.eos?
    scanner.scan(/(?<word>\w+)/) || scanner.getch
    scanner.named_captures if scanner.matched?
  end
  scanner.string = "another"
  scanner.dup.scan_until(/h/)
end
