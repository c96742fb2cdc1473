# frozen_string_literal: true

require_relative "../places/location"
require_relative "filter"
require_relative "model"

module Heapline
  class Capture
    # Where memory was allocated, as the accounting has it: the nearest line of Ruby, and the library that allocated on
    # its behalf where that was not Ruby itself.
    # @api private
    class Sites
      KINDS = %i[line file gem library method thread tag class].freeze
      APPLICATION = "(application)"
      RUBY = "ruby"
      NONE = { file: "(unknown)", method: "(unknown)", thread: "(unknown)", tag: Filter::UNTAGGED,
               class: "(unknown)" }.freeze

      # rows: of Native::Capture#site_rows. frames: Array of Recording::Frame by number. threads, tags, classes:
      # names by number. functions: { native frame => Array of Frame, the innermost last }, where they are known.
      def initialize(rows, frames, threads, tags, classes, functions = {})
        @frames = frames
        @threads = threads
        @tags = tags
        @classes = classes
        @functions = functions
        @sites = rows.map { |ruby, leaf, thread, tag, klass, *sums| [location(ruby, leaf), thread, tag, klass, sums] }
      end

      # Array of Recording::Group, those with most bytes at the peak first. by: one of KINDS
      def groups(by)
        raise ArgumentError, "by #{KINDS.join(", ")}" unless KINDS.include?(by)

        groups = @sites.group_by { |site| key(by, *site) }.map do |key, sites|
          label = largest(sites).first.label if by == :line
          Recording::Group.new(key: key, label: label, sums: sum(sites))
        end
        groups.sort_by { |group| [-group.sums.peak_bytes, -group.sums.bytes_allocated, group.key] }
      end

      private

      # Several methods may share a line: of the one that holds most.
      def largest(sites)
        sites.max_by.with_index { |(*, sums), index| [sums[3], sums[1], -index] }
      end

      def sum(sites)
        Recording::Sums.of(sites.map(&:last).transpose.map(&:sum))
      end

      def key(by, location, thread, tag, klass, _sums)
        found = case by
                when :line then location.name
                when :file then location.path || location.special || location.library_path
                when :gem then location.gem || location.special || APPLICATION
                when :library then library(location)
                when :method then location.label
                when :thread then @threads[thread]
                when :tag then @tags[tag]
                when :class then @classes[klass]
                end
        found || NONE.fetch(by)
      end

      def library(location)
        name = location.library_path || location.library
        name.nil? || name.match?(Places::GemName::RUBY) ? RUBY : location.library
      end

      def location(ruby, leaf)
        (@locations ||= {})[[ruby, leaf]] ||= make(@frames[ruby], @frames[leaf])
      end

      def function(native)
        native && (@functions[native]&.last || native).label
      end

      # The VM is no library: what it allocates is the line's own. A frame without a path says something in words.
      def make(ruby, native)
        return Places::Location.new(special: "(unknown)") unless ruby || native

        native = nil if native&.library&.match?(Places::GemName::RUBY) && ruby
        library = { library: Places::BaseName.of(native&.library), library_path: native&.library }
        return Places::Location.new(**library, special: ruby.label) if ruby && !ruby.path

        Places::Location.new(path: ruby&.path, lineno: ruby&.lineno, label: ruby ? ruby.label : function(native),
                             offset: native&.offset, **library)
      end
    end
  end
end
