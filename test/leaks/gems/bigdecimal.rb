# frozen_string_literal: true

require "bigdecimal"
require "bigdecimal/util"

50.times do
  sum = (1..50).sum { |each| BigDecimal(each) / 7 }
  (sum * sum).sqrt(40).round(20).to_s
  "123.456e-20".to_d.power(5)
  BigDecimal("no number")
rescue ArgumentError
  BigDecimal("1").div(BigDecimal("3"), 200)
end
