# frozen_string_literal: true

desc "CRuby 3.1's own tests, plain and under heapline: rake cruby, cruby[subset], [objects], [record], [attach], a file"
task :cruby, [:what] => :compile do |_, arguments|
  suite = Tasks::CrubySuite.new
  part = arguments[:what].to_s[/\A(subset|objects|record|attach)\z/]
  if (reason = suite.unavailable)
    puts "cruby: skipped, #{reason}"
  else
    suite.run(["cruby", *part].join(":"), arguments[:what]).report
  end
end

desc "The railtie in a real Rails application"
task rails: :compile do
  Tasks::GemHome.install("railties", "7.2.3")
  Tasks::MinitestRun.new("rails", ["test/integration/railtie_test.rb"],
                         environment: { "GEM_PATH" => Tasks::GemHome.gem_path }).run.report
end

desc "The tests of two large gems (oj, ruby_parser), plain and under heapline"
task gems: :compile do
  Tasks::GemSuites.new.run.report
end
