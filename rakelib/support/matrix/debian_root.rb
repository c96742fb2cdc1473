# frozen_string_literal: true

module Tasks
  module Matrix
    # A Debian release in a folder (debootstrap), for the Ruby that it packages.
    #
    # Commands run in a mount namespace of their own: /proc, /dev/shm and /tmp of the root vanish with the last process
    # in it, however that ends.
    class DebianRoot < Interpreter
      MIRROR = "http://deb.debian.org/debian"
      BASE = %w[gcc g++ make libc6-dev zlib1g-dev libgmp-dev libsimdjson-dev libzstd-dev
                libelf-dev zstd ccache].freeze

      # suite: Debian's; packages: of Ruby; ruby: name of the program; extra: a further suite that they come from
      def initialize(name, suite:, packages:, ruby:, extra: nil)
        super(name, "root-#{suite}")
        @suite = suite
        @packages = packages
        @ruby = ruby
        @extra = extra
      end

      def unavailable
        return "it needs root" unless Process.uid.zero?
        return "debootstrap is not there: script/setup --develop" unless Shell.which("debootstrap")

        ok, = Shell.capture("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt")
        "this machine lets nobody mount" unless ok
      end

      def prepare
        bootstrap unless bootstrapped?
        install unless File.exist?(stamp) && File.read(stamp) == wanted
        link_ruby
        super
      end

      private

      def root
        File.join(@folder, "root")
      end

      def work
        "/heapline/checkout"
      end

      def gems
        "/heapline/gems"
      end

      def bin
        "/heapline/bin"
      end

      def program
        "/usr/bin/#{@ruby}"
      end

      # debootstrap removes its own folder when it is done; a root that still has it was interrupted.
      def bootstrapped?
        File.exist?(File.join(root, "etc/debian_version")) && !File.exist?(File.join(root, "debootstrap"))
      end

      # Says which packages were installed.
      def stamp
        File.join(root, "heapline-packages")
      end

      def wanted
        "#{(@packages + BASE).join(" ")}\n"
      end

      # unshare makes the mounts of the namespace private.
      def inside
        mounts = "mount -t proc proc \"$0/proc\" && mount -t tmpfs -o size=2g tmpfs \"$0/dev/shm\" && " \
                 "mount -t tmpfs tmpfs \"$0/tmp\" && exec chroot \"$0\" \"$@\""
        ["unshare", "--mount", "sh", "-c", mounts, root]
      end

      def bootstrap
        puts "#{name}: building a Debian root of #{@suite} in #{root}"
        FileUtils.rm_rf(root)
        must("debootstrap", "--variant=minbase", *bootstrap_options, @suite, root, MIRROR)
      end

      def bootstrap_options
        []
      end

      def install
        puts "#{name}: installing #{wanted}"
        configure_apt
        within("apt-get", "update", "-q")
        within("apt-get", "install", "-q", "-y", "--no-install-recommends", *(@extra ? ["-t", @extra] : []),
               *@packages)
        within("apt-get", "install", "-q", "-y", "--no-install-recommends", *BASE)
        File.write(stamp, wanted)
      end

      # The Release file of a mirror that stands still expires; what it lists is as signed as before.
      def configure_apt
        FileUtils.cp("/etc/resolv.conf", File.join(root, "etc/resolv.conf"))
        File.write(File.join(root, "etc/apt/apt.conf.d/90heapline"), %(Acquire::Check-Valid-Until "false";\n))
        suites = [@suite, @extra].compact.map { |suite| "deb #{MIRROR} #{suite} main\n" }
        File.write(File.join(root, "etc/apt/sources.list"), suites.join)
      end

      # `ruby` in the root is the Ruby of this row, also where another is Debian's default.
      def link_ruby
        folder = File.join(root, bin)
        FileUtils.mkdir_p([folder, File.join(root, gems)])
        FileUtils.ln_sf(program, File.join(folder, "ruby"))
      end

      def within(*command)
        must(*inside, "env", "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command)
      end

      def must(*command)
        ok, output = Shell.capture(*command)
        raise Broken, "#{command.join(" ")} failed:\n#{output.lines.last(30).join}" unless ok
      end
    end
  end
end
