# frozen_string_literal: true

require "fileutils"
require "shellwords"

module Tasks
  module Matrix
    # An emulated machine with 64-bit ARM processors, and Debian on it. It is some tens of times slower than this one.
    #
    # What needs no kernel of that machine (packages, gems, compiling) is done here, by an emulator of single programs
    # that the kernel calls (binfmt_misc); tests run in the machine, each time on a copy of the root that is thrown
    # away. Its console says what they print.
    class Aarch64Machine < DebianRoot
      EMULATOR = "/usr/bin/qemu-aarch64-static"
      BINFMT = "/proc/sys/fs/binfmt_misc"
      RULE = "/usr/lib/binfmt.d/qemu-aarch64.conf"
      TOOLS = %w[qemu-system-aarch64 aarch64-linux-gnu-gcc mke2fs cpio].freeze
      PACKAGES = "qemu-system-arm qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross e2fsprogs cpio"
      MODULES = %w[drivers/virtio/virtio_mmio drivers/block/virtio_blk crypto/crc32c_generic lib/crc16 fs/mbcache
                   fs/jbd2/jbd2 fs/ext4/ext4].freeze
      # Scalable vectors are left out: they make the emulation slower still.
      MACHINE = %w[qemu-system-aarch64 -M virt -cpu max,sve=off,sme=off,pauth-impdef=on -smp 1 -m 2048 -nographic
                   -no-reboot -snapshot -nic none].freeze
      SECONDS = 4 * 60 * 60
      DONE = /^heapline: the task ended with (\d+)\r?$/

      def initialize
        super("aarch64", suite: "bookworm", packages: %w[ruby ruby-dev linux-image-arm64], ruby: "ruby")
        @folder = File.join(CACHE, "aarch64")
      end

      def unavailable
        missing = TOOLS.reject { |tool| Shell.which(tool) }
        missing << EMULATOR unless File.executable?(EMULATOR)
        return "#{missing.join(", ")} not found: apt-get install #{PACKAGES}" unless missing.empty?

        super || ("the kernel calls no emulator for programs of 64-bit ARM (binfmt_misc)" unless emulated?)
      end

      # Tests run in the machine, all else here.
      def ruby(*arguments)
        return super unless arguments.last.start_with?("test:")

        make_machine
        task = ["env", "-i", *settings, program, *arguments].shelljoin
        output = run(task)
        [output[DONE, 1] == "0", output]
      end

      private

      def emulated?
        Shell.capture("mount", "-t", "binfmt_misc", "none", BINFMT) unless File.exist?("#{BINFMT}/register")
        return true if File.exist?("#{BINFMT}/qemu-aarch64")

        rule = File.read(RULE).lines.grep(/\A:qemu-aarch64:/).first&.chomp
        rule && File.write("#{BINFMT}/register", rule) && true
      rescue SystemCallError
        false
      end

      def bootstrap_options
        ["--arch=arm64"]
      end

      # An initial file system, which this machine has of its own, would take a quarter of an hour.
      def configure_apt
        super
        File.write(File.join(root, "etc/kernel-img.conf"), "do_initrd = no\n")
      end

      # ---- the machine ----

      def kernel
        Dir[File.join(root, "boot/vmlinuz-*")].max || raise(Broken, "there is no kernel in #{root}")
      end

      def make_machine
        FileUtils.rm_rf(initial = File.join(@folder, "initial"))
        FileUtils.mkdir_p(%w[dev root modules].map { |name| File.join(initial, name) })
        modules = MODULES.map { |name| Dir[File.join(root, "lib/modules/*/kernel/#{name}.ko")].max }
        FileUtils.cp(modules, "#{initial}/modules")
        must("aarch64-linux-gnu-gcc", "-static", "-O1", "-o", "#{initial}/init", File.join(__dir__, "aarch64_init.c"))
        must("sh", "-c", "cd #{initial.shellescape} && find . | cpio -o -H newc >../initial.cpio 2>../cpio.log")
        FileUtils.rm_f(disk)
        must("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", root, disk, "4G")
      end

      def disk
        File.join(@folder, "disk.img")
      end

      # The script itself is the one drive, which the machine finds after the other. Returns what was printed.
      def run(task)
        script = File.join(@folder, "task.sh")
        File.write(script, <<~SCRIPT.ljust(4096, "\n"))
          cd #{work} && #{task} 2>&1
          echo "heapline: the task ended with $?"
          echo o >/proc/sysrq-trigger
          sleep 60
        SCRIPT
        drives = [script, disk].each_with_index.flat_map do |file, i|
          ["-drive", "file=#{file},format=raw,if=none,id=d#{i}", "-device", "virtio-blk-device,drive=d#{i}"]
        end
        Shell.stream("timeout", SECONDS.to_s, *MACHINE, "-kernel", kernel, "-initrd", "#{@folder}/initial.cpio",
                     "-append", "console=ttyAMA0 quiet panic=-1 rdinit=/init", *drives).last
      end
    end
  end
end
