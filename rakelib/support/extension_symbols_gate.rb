# frozen_string_literal: true

module Tasks
  # What the Ruby extensions show the dynamic linker: the function by which Ruby begins them, and nothing that another
  # library could replace, or be replaced by.
  class ExtensionSymbolsGate < Gate
    LIBRARIES = { "lib/heapline/native.so" => "Init_native", "lib/heapline/heap.so" => "Init_heap" }.freeze

    def name
      "extension-symbols"
    end

    def problems
      LIBRARIES.flat_map { |library, function| problems_of(library, function) }
    end

    private

    def problems_of(library, function)
      path = File.join(@root, library)
      return ["#{library} is not there: rake compile"] unless File.exist?(path)

      _, output = Shell.capture("nm", "-D", "--defined-only", path)
      exported = output.lines.map { |line| line.split.last }
      return [] if exported == [function]

      ["#{library} exports #{exported.sort.first(5).join(", ")}; it should #{function} alone"]
    end
  end
end
