# frozen_string_literal: true

require "erb"
require "json"

# As a threaded worker of jobs does: ten threads take jobs from a queue; a job parses what it was given, makes a report,
# and leaves its result in a cache of which the oldest are dropped. Every fiftieth job is a large one.
class Worker
  THREADS = 10
  CACHED = 400
  REPORT = ERB.new("<table><% rows.each do |row| %><tr><td><%= row[\"id\"] %></td><td><%= row[\"text\"] %></td></tr>" \
                   "<% end %></table>")

  def initialize(jobs)
    @jobs = Queue.new
    jobs.times { |number| @jobs << JSON.generate(payload(number)) }
    @jobs.close
    @cache = {}
    @lock = Mutex.new
  end

  def run
    Array.new(THREADS) { Thread.new { work } }.each(&:join)
  end

  private

  def payload(number)
    random = Random.new(number)
    rows = (number % 50).zero? ? 3000 : 20 + random.rand(150)
    { "job" => number, "rows" => Array.new(rows) { |i| { "id" => i, "text" => "t" * random.rand(120) } } }
  end

  def work
    while (job = @jobs.pop)
      data = JSON.parse(job)
      report = REPORT.result_with_hash(rows: data["rows"])
      @lock.synchronize { keep(data["job"], report) }
    end
  end

  def keep(job, report)
    @cache[job] = report
    @cache.shift if @cache.size > CACHED
  end
end

Worker.new(2500).run
sleep 0.2
