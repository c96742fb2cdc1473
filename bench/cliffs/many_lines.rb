# frozen_string_literal: true

# Lines that allocate one block each, 128 in a file, as Procs of a file.
module ManyLines
  PER_FILE = 128

  # Yields the Proc of each file, which takes `arguments`; without a block an Enumerator of them.
  def self.each_file(count, arguments: "a", line: "a * 100")
    return to_enum(:each_file, count, arguments: arguments, line: line) unless block_given?

    code = "->(#{arguments}) {\n#{"  #{line}\n" * PER_FILE}}"
    (count / PER_FILE).times do |number|
      yield RubyVM::InstructionSequence.compile(code, "/app/models/#{number}.rb").eval
    end
  end
end
