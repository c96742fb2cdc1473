# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "support/puma_cluster"

# Ruby objects of a Puma cluster: each worker counts its own, and the tree adds them up.
class ObjectClusterTest < Minitest::Test
  include PumaCluster

  PLACE = /leak\.rb:3\z/

  # Strings that the leaking line has made.
  def made(*words)
    out, err, status = Open3.capture3(surroundings, *heapline_command("report", "--json", "--objects", *words))
    assert status.success?, err
    rows = JSON.parse(out)["objects"]["sites"]
    rows.select { |row| row["location"].match?(PLACE) && row["class"] == "String" }.sum { |row| row["allocated"] }
  end

  def test_workers_and_the_whole_tree
    start_cluster("--objects")
    requests = leak
    counted = @workers.map { |worker| made(worker.to_s) }
    assert counted.all?(&:positive?), "both workers leak"
    assert_operator counted.sum, :>=, requests
    assert_equal 0, counted.sum % requests, "each request makes the same: #{counted}, #{requests} requests"
    assert_equal counted.sum, made("--merge", @cluster.pid.to_s)
    metrics = get("#{@address}/heapline/metrics", token: TOKEN).body
    assert metrics.match?(/^heapline_class_live_objects\{pid="#{@workers[0]}",class="[^"]+"\} \d+$/),
           "classes of a worker"
  end
end
