# frozen_string_literal: true

require "tmpdir"

module Tasks
  # The bundle in lib/ is what the sources in assets/ give, byte for byte; these pass their type checker; and the lock
  # file names no address, so that every registry serves it.
  class AssetsGate < Gate
    # assets: who builds; a test puts something else there
    def initialize(root = ROOT, assets: Assets.new(root))
      super(root)
      @assets = assets
    end

    def name
      "assets"
    end

    private

    def patterns
      %w[assets/src/**/*]
    end

    def check
      addresses + differences + @assets.complaints
    rescue Assets::Failure => e
      [e.message]
    end

    def addresses
      lock = File.read(File.join(@root, "assets/package-lock.json"))
      lock.match?(%r{"resolved"|https?://[^"]*\.tgz}) ? ["assets/package-lock.json names a registry's address"] : []
    end

    def differences
      Dir.mktmpdir("heapline-assets") do |dir|
        @assets.build(dir)
        Assets::FILES.reject { |file| same?(File.join(dir, file), File.join(@root, Assets::BUNDLE, file)) }
                     .map { |file| "#{Assets::BUNDLE}/#{file} is not what assets/ gives: rake assets" }
      end
    end

    def same?(built, shipped)
      File.exist?(shipped) && File.binread(built) == File.binread(shipped)
    end
  end
end
