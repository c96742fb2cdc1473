# frozen_string_literal: true

require_relative "../figures/units"

module Heapline
  module Heap
    # A path from a root to an object in words: `$sessions → Array[3] → #<Session> @cache → Hash`.
    class PathWords
      ARROW = " → "
      # What leads on where the dump does not name it.
      UNNAMED = { "ARRAY" => "[…]", "HASH" => "[…]" }.freeze
      MODULES = %w[CLASS MODULE].freeze
      # So many the same in a row are put together.
      REPEATED = 3
      # Parts at each end that are always shown.
      END_PARTS = 15
      INDEX = /\A\[\d+\]\z/

      # objects: ObjectWords. general: numbers of elements are left out, so that many paths are one.
      def initialize(objects, general: false)
        @objects = objects
        @general = general
      end

      # steps: Array of Heap::Reference. Array of Strings, to be joined by ARROW. What is repeated (the nodes of a
      # list) is written once; of a path that is still long the middle is left out.
      def parts(steps)
        parts = steps.each_cons(2).filter_map { |from, to| link(from.object, to) }
        parts = [*parts, general(steps.last.object)].chunk_while { |one, next_one| one == next_one }.map do |same|
          same.size < REPEATED ? same : ["#{same.first} (#{Units.count(same.size)} times)"]
        end.flatten
        left = parts.size - (2 * END_PARTS)
        left > 1 ? [*parts.first(END_PARTS), "(#{Units.count(left)} more)", *parts.last(END_PARTS)] : parts
      end

      # An object with what leads on from it: "Array[3]", "#<Session> @cache". A global variable says more than the
      # root that has it.
      def holder(object, name)
        edge = edge(object, name)
        return edge || @objects.short(object) if object.root?

        text = general(object)
        return text unless edge
        return constant(text, edge) if edge.match?(/\A\p{Lu}/) && MODULES.include?(object.type)

        edge.start_with?("[") ? text + edge : "#{text} #{edge}"
      end

      # The same of the way to `step`: nil where the name is that of the class or module at the other end.
      def link(object, step)
        text = holder(object, step.name)
        text unless MODULES.include?(step.object.type) && text == @objects.short(step.object)
      end

      private

      # Of paths that are put together a string is one of many.
      def general(object)
        @general && object.value ? object.class_name : @objects.short(object)
      end

      def edge(holder, name)
        return UNNAMED[holder.type] if name.nil? || (@general && name.match?(INDEX))

        name
      end

      # Those of Object are written without it.
      def constant(space, name)
        space == "Object" ? name : "#{space}::#{name}"
      end
    end
  end
end
