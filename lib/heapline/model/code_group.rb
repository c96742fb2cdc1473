# frozen_string_literal: true

require_relative "code_piece"

module Heapline
  module Model
    # Pieces of code that have something in common.
    #
    # key::       what: see Code::GROUPS
    # count::     pieces; bytes:: their memsize
    # copies::    of these, those that were compiled again: see CodePiece#copy; copy_bytes:: theirs
    # unreached:: of these, those that no method leads to; nil: unknown
    # oldest, newest:: generation in which the first and the last of them was compiled; nil: unknown
    # live_bytes:: of malloc, at the lines of the same file, method …; live_objects:: Ruby objects; nil: unknown
    # example::   address of the copy that has been there longest, where possible of one that a method leads to: what
    #             none leads to may be garbage. Without copies of any piece
    # rubocop:disable Lint/StructNewOverride -- pieces are counted, nobody counts a Struct's members
    CodeGroup = Struct.new(:key, :count, :bytes, :copies, :copy_bytes, :unreached, :oldest, :newest, :live_bytes,
                           :live_objects, :example, keyword_init: true) do
      # pieces: Array of CodePiece, not empty; live: [bytes, objects], each may be nil.
      def self.of(key, pieces, live)
        copies = pieces.select(&:copy)
        oldest, newest = pieces.filter_map(&:generation).minmax
        new(key: key, count: pieces.size, bytes: pieces.sum(&:bytes), copies: copies.size,
            copy_bytes: copies.sum(&:bytes), unreached: unreached(pieces), oldest: oldest, newest: newest,
            live_bytes: live.first, live_objects: live.last, example: example(copies.empty? ? pieces : copies)).freeze
      end

      def self.unreached(pieces)
        pieces.count { |piece| !piece.reached } unless pieces.any? { |piece| piece.reached.nil? }
      end

      def self.example(pieces)
        pieces.min_by { |piece| [piece.reached ? 0 : 1, piece.generation || 0, piece.address] }.address
      end
      private_class_method :unreached, :example
    end
    # rubocop:enable Lint/StructNewOverride
  end
end
