# frozen_string_literal: true

desc "Check the sources: compilers' warnings, clang-format, cppcheck, RuboCop, RBS, shellcheck"
task :lint do
  Tasks.run_gates("lint", Tasks::Gates.all)
end

desc "Check what the core exports and needs (the listed symbols, libc and liburcu, no libruby), and the extensions"
task symbols: :compile do
  Tasks.run_gates("symbols", [Tasks::SymbolsGate.new, Tasks::ExtensionSymbolsGate.new])
end

desc "Check that the documents name only what exists, and that options and files are documented and tested"
task :docs do
  Tasks.run_gates("docs", [Tasks::DocsGate.new])
end
