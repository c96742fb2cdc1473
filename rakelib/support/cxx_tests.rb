# frozen_string_literal: true

module Tasks
  # The unit tests in C++, of heap dumps and captures without Ruby. Each test/cpp/NAME_test.cpp is one program, linked
  # with all of ext/heapline_heap and ext/heapline_capture that knows no Ruby, and with the checks of the C tests.
  class CxxTests < CTests
    RUBY = /(binding|waiting)\.cpp\z/

    # The Tally of the C tests and of these.
    def self.with_c(layer, variants, only)
      tallies = [CTests, self].map { |tests| tests.new(layer, variants, only: only).run }
      Tally.new(layer: layer, passed: tallies.sum(&:passed), failed: tallies.sum(&:failed))
    end

    private

    def shared
      glob("ext/heapline_{heap,capture}/*.cpp").grep_v(RUBY) + ["test/c/support/check.c"]
    end

    def programs
      glob("test/cpp/#{@only}*_test.cpp")
    end

    def compile(source, variant)
      return super unless source.end_with?(".cpp")

      built(source, variant, ".o") do |object|
        [CFlags.cxx(variant.compiler), *CFlags::CXX, *variant.flags, "-Iext/heapline_heap", "-Itest/c/support", "-c",
         "-o", object, source]
      end
    end

    def link(source, objects, variant)
      object = compile(source, variant)
      built(source, variant, "") do |program|
        [CFlags.cxx(variant.compiler), *variant.flags, "-pthread", "-o", program, object, *objects,
         *CFlags::HEAP_LIBRARIES]
      end
    end
  end
end
