# frozen_string_literal: true

module Tasks
  module Matrix
    # A Ruby that lies, built, in an archive beside the checkout.
    class TarballRuby < Interpreter
      ARCHIVES = File.expand_path("../shared/rubies", ROOT)

      def initialize(name, archive)
        @archive = File.join(ARCHIVES, "#{archive}.tar.xz")
        super
      end

      def unavailable
        "#{@archive} is not there" unless File.exist?(@archive)
      end

      def prepare
        unpack unless File.exist?(program)
        super
      end

      private

      # A Ruby that can be unpacked anywhere writes commands of gems that look for `ruby` beside themselves; up to
      # RubyGems 3.4 nowhere else.
      def install_gems
        super
        FileUtils.ln_sf(program, File.join(gems, "bin/ruby"))
      end

      def program
        File.join(@folder, "ruby/bin/ruby")
      end

      def unpack
        fresh = File.join(@folder, "unpacking")
        FileUtils.rm_rf(fresh)
        FileUtils.mkdir_p(fresh)
        ok, output = Shell.capture("tar", "-xf", @archive, "-C", fresh, "--strip-components=1")
        raise Broken, "tar could not unpack #{@archive}:\n#{output}" unless ok

        File.rename(fresh, File.join(@folder, "ruby"))
      end
    end
  end
end
