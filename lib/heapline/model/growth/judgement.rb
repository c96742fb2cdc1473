# frozen_string_literal: true

require_relative "verdict"

module Heapline
  module Model
    class Growth
      # The verdict over all lives of a site. All of them together are asked first. Where they do not show a leak, each
      # is asked alone, since one worker of many may leak; so that many questions do not make a false answer likely,
      # each must then be surer by as much as there are lives (Bonferroni).
      class Judgement
        # lives: Array of Life, at least one
        def initialize(lives)
          together = Verdict.new(lives)
          leaking = together.name == :leak || lives.size == 1 ? [] : leaking_alone(lives)
          @asked = leaking.empty? ? together : Verdict.new(leaking)
          @verdict = leaking.empty? ? together.name : :leak
        end

        attr_reader :verdict

        # Trend of the lives that the verdict is about, bytes a ms.
        def trend
          @asked.trend
        end

        # How many standard errors lie on each side when `count` are asked: the same chance of any false answer.
        def self.reach(count)
          chance = Math.erfc(Verdict::REACH / Math.sqrt(2)) / count
          low = Verdict::REACH
          high = 40.0
          60.times { Math.erfc((middle = (low + high) / 2) / Math.sqrt(2)) > chance ? low = middle : high = middle }
          low
        end

        private

        def leaking_alone(lives)
          reach = Judgement.reach(lives.size)
          lives.select { |life| Verdict.new([life], reach: reach).name == :leak }
        end
      end
    end
  end
end
