# frozen_string_literal: true

desc "Compile and test on Ruby 3.1 to 4.1, as CI does: rake matrix, matrix[others], matrix[3.4]; " \
     "matrix[aarch64]: on an emulated machine with 64-bit ARM, in hours"
task :matrix, [:what] do |_, arguments|
  Tasks::Matrix::Run.new(["matrix", arguments[:what]&.delete("() ")].compact.join(":"), arguments[:what]).run.report
end

namespace :matrix do
  desc "The same, all tests on all of them: rake matrix:full, matrix:full[4.1]"
  task :full, [:what] do |_, arguments|
    Tasks::Matrix::Run.new("matrix:full", arguments[:what], full: true).run.report
  end
end
