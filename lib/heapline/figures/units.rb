# frozen_string_literal: true

module Heapline
  # Figures as people read them. Decimal prefixes: 1 MB is 1,000,000 bytes.
  # @api private
  module Units
    PREFIXES = %w[B kB MB GB TB PB EB].freeze

    # "51.20 MB", "512 B", "-1.02 kB": three to five digits, so that columns of them compare at a glance. Halves are
    # rounded up, as in pages: `format` would take them to an even digit.
    def self.bytes(number)
      size = number.abs.to_f
      prefix = 0
      while size >= 999.995 && prefix < PREFIXES.size - 1
        size /= 1000
        prefix += 1
      end
      return "#{number} B" if prefix.zero?

      hundredths = (number.abs * 100).fdiv(1000**prefix).round
      format("%<sign>s%<size>.2f %<unit>s", sign: number.negative? ? "-" : "", size: hundredths.fdiv(100),
                                            unit: PREFIXES[prefix])
    end

    # The same with a sign, as growth is read; "?" of nil.
    def self.signed(number)
      number.nil? ? "?" : "#{"+" if number.round.positive?}#{bytes(number.round)}"
    end

    # 1234567 → "1,234,567".
    def self.count(number)
      number.to_s.gsub(/(\d)(?=(\d{3})+\z)/, '\1,')
    end

    # Seconds as "0.4 s", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 03 h".
    def self.duration(seconds)
      return "#{seconds.to_f.round(1)} s" if seconds < 60

      whole = seconds.to_i
      return two(whole, 60, "min", 1, "s") if whole < 3600
      return two(whole, 3600, "h", 60, "min") if whole < 86_400

      two(whole, 86_400, "d", 3600, "h")
    end

    # "4 min 05 s": how many `large` there are in `whole`, and how many `small` in the rest.
    def self.two(whole, large, large_name, small, small_name)
      "#{whole / large} #{large_name} #{(whole % large / small).to_s.rjust(2, "0")} #{small_name}"
    end
    private_class_method :two
  end
end
