# frozen_string_literal: true

desc "Check the sources: compilers' warnings, clang-format, cppcheck, RuboCop, RBS, shellcheck"
task :lint do
  Tasks.run_gates("lint", Tasks::Gates.all)
end

desc "Check what the core exports and needs (the listed symbols, libc, no libruby), and the extensions, " \
     "that each room of the core calls only those below it, that sig/ declares what the library has, " \
     "and that docs/api.md lists the public classes"
task symbols: :compile do
  Tasks.run_gates("symbols", [Tasks::SymbolsGate.new, Tasks::ExtensionSymbolsGate.new,
                              Tasks::CoreRoomsGate.new(objects: Tasks::CoreRoomsGate.built),
                              Tasks::SignaturesGate.new, Tasks::ApiGate.new])
end

desc "Check that the documents name only what exists, that options and figures are documented, " \
     "and that each room of the library and of the core uses only those below it"
task :docs do
  Tasks.run_gates("docs", [Tasks::DocsGate.new, Tasks::LibraryRoomsGate.new, Tasks::CoreRoomsGate.new,
                           Tasks::WalksGate.new, Tasks::HelpGate.new])
end

desc "Run the examples that heapline help shows, and write them and the manual page anew"
task "docs:help" => :compile do
  Tasks::HelpExamples.new.write
  Tasks::HelpGate.new.write_manual
end

desc "Write the manual page anew, man/heapline.1"
task "docs:manual" do
  Tasks::HelpGate.new.write_manual
end

desc "Write the tables of figures into docs/formats.md"
task "docs:figures" do
  Tasks::FiguresTable.write
end
