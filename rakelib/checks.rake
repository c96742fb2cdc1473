# frozen_string_literal: true

desc "Ask growth checks about known blocks again and again, and write the table of docs/checks.md: rake checks[200]; " \
     "goes on with what tmp/checks has"
task :checks, [:repeats] => :compile do |_, arguments|
  Tasks::ChecksPage.new(Integer(arguments[:repeats] || 200)).write
end
