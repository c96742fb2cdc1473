# frozen_string_literal: true

require "json"
require "rbconfig"

module Tasks
  # sig/ is for programs that use heapline: the classes that the documents name, and what these give. What it declares
  # is in the library, and a class that is declared has each of its public methods there. Classes of which programs
  # never hear (commands, formats, screens) need no signature.
  class SignaturesGate < Gate
    # Where other gems, or programs under accounting, are needed to load them.
    FOREIGN = %r{/(auto|minitest|rspec|test_unit|test_task|rspec_task|railtie|sidekiq|rack|mwrap\w*|
                  probe_program)\.rb\z}x
    ELSEWHERE = /\A(Mwrap|MwrapRack|Heapline::(MwrapDump|Matchers|Sidekiq|Rack|RSpecTask|TestTask|Railtie))(::|[.#]|\z)/
    DOCUMENTED = /\bHeapline(?:::[A-Z]\w*)+/
    # Prints the modules of the library, each with its public methods: of its own, and of all that it has.
    LOADER = <<~'RUBY'
      require "json"
      lib = File.expand_path(ARGV.shift)
      ARGV.each { |file| require file }
      found = {}
      name = Module.instance_method(:name)
      here = ->(method) { method.source_location&.first.to_s.start_with?(lib) }
      dig = lambda do |mod, path|
        next if found.key?(path)

        own = mod.public_instance_methods(false).select { |one| here.(mod.instance_method(one)) }.map { |one| "##{one}" } +
              mod.singleton_methods(false).select { |one| here.(mod.method(one)) }.map { |one| ".#{one}" }
        all = (mod.instance_methods + mod.private_instance_methods).map { |one| "##{one}" } +
              (mod.methods + mod.private_methods).map { |one| ".#{one}" }
        found[path] = [own, all]
        mod.constants(false).each do |constant|
          value = mod.const_get(constant)
          inner = "#{path}::#{constant}"
          value.is_a?(Module) && name.bind_call(value) == inner ? dig.(value, inner) : found[inner] ||= nil
        end
      end
      dig.(Heapline, "Heapline")
      puts JSON.generate(found)
    RUBY

    # Hash of a module's name to what is declared of it: "#name", ".name".
    def declared
      require "rbs"
      @declared ||= files.each_with_object({}) do |file, all|
        source = RBS::Buffer.new(name: file, content: File.read(File.join(@root, file)))
        note(RBS::Parser.parse_signature(source).last, nil, all)
      end
    end

    private

    def patterns
      %w[sig/**/*.rbs]
    end

    def check
      ok, output = loaded
      return ["the library cannot be loaded as a whole\n#{output}"] unless ok

      @found = JSON.parse(output.lines.last)
      stale + lacking + undeclared
    end

    def loaded
      lib = File.join(@root, "lib")
      files = Dir.glob("#{lib}/heapline{.rb,/**/*.rb}").grep_v(FOREIGN)
      built = Dir.glob("#{lib}/heapline/{native,heap,capture,corefile}.so")
      Shell.capture(RbConfig.ruby, "-I", lib, "-e", LOADER, lib, *built, *files, dir: @root)
    end

    def note(declarations, within, all)
      declarations.each do |one|
        name = [within, one.name.to_s.delete_prefix("::")].compact.join("::") if one.respond_to?(:name)
        case one
        when RBS::AST::Declarations::Class, RBS::AST::Declarations::Module
          (all[name] ||= []).concat(one.members.flat_map { |member| methods_of(member) })
          note(one.members, name, all)
        when RBS::AST::Declarations::Constant then all[name] ||= []
        end
      end
    end

    def methods_of(member)
      signs = { instance: ["#"], singleton: ["."], singleton_instance: ["#", "."] }
      case member
      when RBS::AST::Members::MethodDefinition, RBS::AST::Members::AttrReader, RBS::AST::Members::AttrAccessor
        signs.fetch(member.kind).map { |sign| "#{sign}#{member.name}" } +
          (member.is_a?(RBS::AST::Members::AttrAccessor) ? ["##{member.name}="] : [])
      when RBS::AST::Members::AttrWriter then ["##{member.name}="]
      when RBS::AST::Members::Alias then ["##{member.new_name}"]
      else []
      end
    end

    def stale
      declared.reject { |name, _| name.match?(ELSEWHERE) }.flat_map do |name, methods|
        next ["sig/ declares #{name}, which is not there"] unless @found.key?(name)

        _, all = @found[name]
        (methods - Array(all) - %w[#initialize]).map { |method| "sig/ declares #{name}#{method}, which is not there" }
      end
    end

    def lacking
      declared.flat_map do |name, methods|
        own, = @found[name]
        (Array(own) - methods - %w[#inspect]).map { |method| "sig/ lacks #{name}#{method}" }
      end
    end

    def undeclared
      named = Dir.glob("{README.md,docs/**/*.md}", base: @root).flat_map do |file|
        File.read(File.join(@root, file), encoding: "UTF-8").scan(DOCUMENTED)
      end
      (named.uniq & @found.keys).reject { |name| declared.key?(name) }
                                .map { |name| "the documents name #{name}, which has no signature" }
    end
  end
end
