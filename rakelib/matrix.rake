# frozen_string_literal: true

desc "Compile and test on Ruby 3.1, 3.3, 3.4 and 4.0: rake matrix, matrix[others], matrix[3.4]"
task :matrix, [:what] do |_, arguments|
  Tasks::Matrix::Run.new(["matrix", arguments[:what]].compact.join(":"), arguments[:what]).run.report
end
