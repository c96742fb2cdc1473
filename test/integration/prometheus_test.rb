# frozen_string_literal: true

require "test_helper"
require "support/puma_cluster"

# A real Prometheus server scrapes a Puma cluster of two workers: through `heapline serve` beside it, and through the
# endpoint in it.
class PrometheusTest < Minitest::Test
  include PumaCluster

  # Often enough for a test, and time enough for an answer on a machine that does much else.
  CONFIGURATION = <<~YAML
    global: { scrape_interval: 5s, scrape_timeout: 5s }
    scrape_configs:
      - job_name: beside
        authorization: { credentials: "%<token>s" }
        static_configs: [{ targets: ["%<beside>s"] }]
      - job_name: within
        metrics_path: /heapline/metrics
        authorization: { credentials: "%<token>s" }
        static_configs: [{ targets: ["%<within>s"] }]
  YAML

  def test_both_ways_the_workers_become_series
    skip "prometheus is not installed: script/setup --develop" unless installed?
    start_cluster
    leak
    start_prometheus(beside: serve, within: @address.delete_prefix("http://"))
    %w[beside within].each do |job|
      pids = [@cluster.pid, *@workers].map(&:to_s).sort
      await_service(@prometheus, "#{job} has not all series") { pids == pids_of("heapline_rss_bytes", job) }
      assert_equal ["1"], values("up{job=\"#{job}\"}")
      leaks = pids_of("heapline_site_live_bytes{label=\"Leak#keep\"} >= #{KEPT}", job)
      assert_equal @workers.map(&:to_s).sort, leaks
    end
  end

  private

  def installed?
    system("prometheus", "--version", %i[out err] => File::NULL)
  end

  def serve
    service = launch(*heapline_command("serve", "--port", "0"), env: surroundings(HEAPLINE_TOKEN: TOKEN))
    said(service, %r{serves http://([\d.:]+)/})
  end

  def start_prometheus(**targets)
    File.write(place("prometheus.yml"), format(CONFIGURATION, token: TOKEN, **targets))
    @prometheus = launch("prometheus", "--config.file=#{place("prometheus.yml")}", "--web.listen-address=127.0.0.1:0",
                         "--storage.tsdb.path=#{place("data")}")
    port = await_service(@prometheus, "it listens nowhere") { port_of(@prometheus.pid) }
    @api = "http://127.0.0.1:#{port}/api/v1/query"
    await_service(@prometheus, "it answers nothing") { get("http://127.0.0.1:#{port}/-/ready").code == "200" }
  end

  # The loopback port that a process listens on: Prometheus does not tell which one the system chose.
  def port_of(pid)
    sockets = Dir["/proc/#{pid}/fd/*"].filter_map { |file| link(file)[/\Asocket:\[(\d+)\]\z/, 1] }
    File.readlines("/proc/net/tcp").drop(1).map(&:split).each do |fields|
      return fields[1].split(":").last.hex if fields[3] == "0A" && sockets.include?(fields[9])
    end
    nil
  end

  def link(file)
    File.readlink(file)
  rescue SystemCallError
    ""
  end

  def query(text)
    response = JSON.parse(get("#{@api}?#{URI.encode_www_form(query: text)}").body)
    response.fetch("data").fetch("result")
  end

  def values(text)
    query(text).map { |series| series["value"].last }
  end

  # The pids of the series that a query finds in a job.
  def pids_of(text, job)
    labels = query(text).map { |series| series["metric"] }
    labels.select { |of| of["job"] == job }.map { |of| of["pid"] }.sort
  end
end
