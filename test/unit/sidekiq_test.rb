# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "heapline/sidekiq"

class SidekiqTest < Minitest::Test
  HardJob = Class.new

  def test_only_calls_on_without_the_preload
    assert_equal :done, (Heapline::Sidekiq.new.call(HardJob.new, {}, "default") { :done })
  end

  def test_labels_a_job_by_its_class
    assert_equal ["HardJob"], labels_of({ "class" => "HardJob" })
    assert_equal ["ReportJob"], labels_of({ "class" => "Wrapper", "wrapped" => "ReportJob" })
    assert_equal ["SidekiqTest::HardJob"], labels_of({})
  end

  private

  def labels_of(job)
    labels = []
    tag = lambda do |label, &block|
      labels << label
      block.call
    end
    value = Heapline.stub(:enabled?, true) do
      Heapline.stub(:tag, tag) { Heapline::Sidekiq.new.call(HardJob.new, job, "default") { :done } }
    end
    assert_equal :done, value
    labels
  end
end
