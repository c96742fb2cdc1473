# frozen_string_literal: true

module Heapline
  module Objects
    # The Ruby objects of one class that were made at one site, or of a group of such. A frozen plain value, made with
    # keywords, or, by those that make many, with all values in order.
    #
    # class_name:: as Ruby names it ("Shop::Page"); of an anonymous class "#<Class < Shop::Page>"; what the VM calls an
    #              object of its own ("imemo_ment"); nil: it has no name, or several
    # type::       what it is to the VM: "T_STRING", "T_OBJECT", "T_DATA", "T_IMEMO" …; nil: several, or not known
    # internal::   is it the VM's own (environments, method entries, hidden strings), which no program can get hold of?
    #
    # Counts are objects, *_bytes and slot_bytes_* are bytes of their slots in the object heap (what they hold outside
    # of it is malloc's, see Site), age_* are GC generations of freed objects. growth is live now minus live at the
    # baseline and may be negative; retained was made after the baseline and is still live; temporary objects were
    # freed within the generation of their birth or the next. since_* count from the baseline (without one: from the
    # start). memsize is what retained objects take with all that they hold outside of the object heap, where that was
    # asked for (Heapline.objects), else 0.
    #
    # It also answers to the names that a Site's figures have, so that what ranks and prints Sites does so with it:
    # live_bytes are then live slot bytes, live_blocks live objects.
    # @api public
    ObjectSite = Struct.new(:location, :tag, :class_name, :type, :internal, :allocated, :freed, :slot_bytes_allocated,
                            :slot_bytes_freed, :growth, :growth_bytes, :retained, :retained_bytes, :since_allocated,
                            :since_slot_bytes_allocated, :age_sum, :age_max, :temporary, :memsize) do
      def initialize(*values, **fields)
        super(*values)
        fields.each { |name, value| self[name] = value }
        freeze
      end

      # Objects that were made and not freed.
      def live
        allocated - freed
      end

      # Bytes of the slots of those.
      def slot_bytes
        slot_bytes_allocated - slot_bytes_freed
      end

      # The class's name; of what has none its type; of a group of several nil.
      def name
        class_name || type
      end

      # The same as `internal`, as a question.
      def internal?
        internal ? true : false
      end

      # Mean lifespan of the freed objects in GC generations (Float); 0.0 before the first is freed.
      def mean_age
        freed.zero? ? 0.0 : age_sum.fdiv(freed)
      end

      # The part of the freed objects that died within the generation of their birth or the next (0.0 to 1.0); nil
      # before the first is freed.
      def temporary_share
        Figures::SiteFigures.temporary_share(temporary, freed)
      end

      # What makes two of two snapshots the same one.
      def key
        [location.to_s, location.label, location.library, *nature]
      end

      # What tells apart those that are at one place.
      def nature
        [tag, class_name, type, internal]
      end

      # Did anything happen here? A difference leaves out where nothing did.
      def idle?
        ObjectSite::ADDITIVE.all? { |field| self[field].zero? }
      end

      # What a forked child made of it since its fork (or its last baseline) and still holds: inherited objects are the
      # parent's. nil where it made none. How long those lived that it freed is known of inherited and own ones
      # together: the own ones get their share by number.
      def own
        return nil if since_allocated.zero? && retained.zero?

        gone = since_allocated - retained
        share = freed.zero? ? 0 : gone.fdiv(freed)
        with(allocated: since_allocated, freed: gone, slot_bytes_allocated: since_slot_bytes_allocated,
             slot_bytes_freed: since_slot_bytes_allocated - retained_bytes, growth: retained,
             growth_bytes: retained_bytes, age_sum: (age_sum * share).round, temporary: (temporary * share).round)
      end

      # A copy with other fields.
      def with(**changes)
        self.class.new(**to_h, **changes)
      end

      # How a Site calls it.
      def kind
        :object
      end

      alias_method :allocations, :allocated
      alias_method :frees, :freed
      alias_method :bytes_allocated, :slot_bytes_allocated
      alias_method :bytes_freed, :slot_bytes_freed
      alias_method :live_bytes, :slot_bytes
      alias_method :live_blocks, :live
      alias_method :growth_blocks, :growth
      alias_method :retained_blocks, :retained

      # Lifespans of objects are counted in generations alone.
      def age_ms_sum
        0
      end
      alias_method :age_ms_max, :age_ms_sum
    end

    # Types, sums and differences.
    class ObjectSite
      # What an object is to the VM, by the number that it has there: the same in all Rubies.
      TYPES = { 0 => "T_NONE", 1 => "T_OBJECT", 2 => "T_CLASS", 3 => "T_MODULE", 4 => "T_FLOAT", 5 => "T_STRING",
                6 => "T_REGEXP", 7 => "T_ARRAY", 8 => "T_HASH", 9 => "T_STRUCT", 10 => "T_BIGNUM", 11 => "T_FILE",
                12 => "T_DATA", 13 => "T_MATCH", 14 => "T_COMPLEX", 15 => "T_RATIONAL", 20 => "T_SYMBOL",
                26 => "T_IMEMO", 27 => "T_NODE", 28 => "T_ICLASS", 29 => "T_ZOMBIE", 30 => "T_MOVED" }.freeze
      # Figures that add up, and the one that is a maximum.
      ADDITIVE = %i[allocated freed slot_bytes_allocated slot_bytes_freed growth growth_bytes retained retained_bytes
                    since_allocated since_slot_bytes_allocated age_sum temporary memsize].freeze
      ZERO = [*ADDITIVE, :age_max].to_h { |field| [field, 0] }.freeze
      NAMES = %i[tag class_name type internal].freeze

      class << self
        # "T_STRING" of 5.
        def type_name(number)
          TYPES.fetch(number) { "T_#{number}" }
        end

        # One with the sum of `sites`, at `location`. tag, class_name, type and internal are those that all have in
        # common, else nil.
        def sum(sites, location:)
          names = NAMES.to_h { |field| [field, common(sites, field)] }
          figures = ADDITIVE.to_h { |field| [field, sites.sum(&field)] }
          new(location: location, **names, **figures, age_max: sites.map(&:age_max).max || 0)
        end

        # What `after` counted beyond `before` (either may be nil). Growth is the change of live; the maximum is
        # `after`'s.
        def difference(after, before)
          here = after || before
          figures = ADDITIVE.to_h { |field| [field, figure(after, field) - figure(before, field)] }
          live = { growth: figures[:allocated] - figures[:freed],
                   growth_bytes: figures[:slot_bytes_allocated] - figures[:slot_bytes_freed] }
          new(location: here.location, **here.to_h.slice(*NAMES), **figures, **live, age_max: figure(after, :age_max))
        end

        private

        def figure(site, field)
          site ? site[field] : 0
        end

        def common(sites, field)
          values = sites.map(&field).uniq
          values.first if values.size == 1
        end
      end
    end
  end
end
