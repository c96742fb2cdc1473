# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "socket"
require "support/core_files"
require "support/native_programs"

# `heapline core FILE` names functions in libraries, and reads texts of theirs, from files of the same build alone:
# from this machine, from --sysroot and from --debuginfod.
class CoreLibrariesTest < Minitest::Test
  HEAPLINE = CoreFiles::HEAPLINE
  # A block of a function that is not exported, and a string whose bytes lie in the library. In another build of it
  # another function is in that one's place.
  LIBRARY = <<~C
    #include <pthread.h>
    #include <ruby.h>
    #include <stdlib.h>
    #ifdef OTHER
    #define planted_function wrong_function
    #endif
    void *volatile planted_block;
    static __attribute__((noinline)) void planted_function(size_t bytes) {
        planted_block = malloc(bytes);
    }
    static void *plant(void *none) {
        planted_function(123456);
        return none;
    }
    __attribute__((constructor)) static void begin(void) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, plant, NULL)) abort();
        pthread_join(thread, NULL);
    }
    void Init_libplanted(void) {
        static const char text[] = "these bytes lie in the library";
        rb_define_global_const("PLANTED", rb_str_new_static(text, sizeof(text) - 1));
    }
  C
  NAME = "planted_function  planted.c:#{LIBRARY.lines.index { |line| line.include?("= malloc") } + 1}".freeze

  # Of a process that had libplanted.so -> place/libplanted.so.1; files are the builds of that.
  Left = Struct.new(:dir, :core, :build_id, :files) do
    def library
      "#{dir}/place/libplanted.so.1"
    end
  end

  class << self
    def left
      @left ||= begin
        dir = Dir.mktmpdir("heapline-core")
        Minitest.after_run { FileUtils.rm_rf(dir) }
        Dir.mkdir("#{dir}/place")
        files = build(dir)
        FileUtils.cp(files[:full], "#{dir}/place/libplanted.so.1")
        File.symlink("place/libplanted.so.1", "#{dir}/libplanted.so")
        Left.new(dir, core(dir), identity(files[:full]), files)
      end
    end

    def build(dir)
      File.write(source = "#{dir}/planted.c", LIBRARY)
      files = %i[full other stripped debug].to_h { |name| [name, "#{dir}/#{name}"] }
      files[:debug] << ("-" * 200) # a link to it has room for other names
      compile = ["cc", "-g", "-O1", "-shared", "-fPIC", "-pthread", "-Wl,--build-id", *NativePrograms::HEADERS, source]
      perform(*compile, "-o", files[:full])
      perform(*compile, "-DOTHER", "-o", files[:other])
      perform("objcopy", "--only-keep-debug", files[:full], files[:debug])
      perform("objcopy", "--strip-all", "--add-gnu-debuglink=#{files[:debug]}", files[:full], files[:stripped])
      files
    end

    def perform(*words)
      out, status = Open3.capture2e(*words)
      raise "#{words.join(" ")}: #{out}" unless status.success?
    end

    def identity(file)
      Open3.capture2("readelf", "-n", file).first[/Build ID: (\h+)/, 1]
    end

    def core(dir)
      env = { "HEAPLINE" => "quiet,core", "HEAPLINE_DIR" => "#{dir}/flights", "LD_PRELOAD" => "#{dir}/libplanted.so" }
      program = "require '#{dir}/libplanted.so'; $stdout.syswrite(\"ready\\n\"); $stdin.gets"
      IO.popen([env, *HEAPLINE, RbConfig.ruby, "--disable-gems", "-e", program], "r+") do |io|
        io.gets
        perform(*HEAPLINE, "dump", io.pid.to_s, "-o", "#{dir}/core")
        io.puts
      end
      "#{dir}/core"
    end
  end

  def left
    self.class.left
  end

  # What lies where the process had its library while the block runs: one of its builds, or nothing.
  def at_its_place(name)
    FileUtils.rm_rf(left.library)
    FileUtils.cp(left.files.fetch(name), left.library) if name
    yield
  ensure
    FileUtils.rm_rf(left.library)
  end

  # A directory with files, by their paths in it, or with what a block puts there.
  def root(files = {})
    Dir.mktmpdir("heapline-root") do |dir|
      files.each { |path, name| put("#{dir}/#{path}", name) }
      yield dir
    end
  end

  def put(path, name)
    FileUtils.mkdir_p(File.dirname(path))
    FileUtils.cp(left.files.fetch(name), path)
  end

  # The name of the planted function, and what is missing. A function that is not found has no name, and this is told.
  def ask(*words, env: {}, core: left.core)
    out, err, status = Open3.capture3(env, *HEAPLINE, "core", "--json", "--top", "0", *words, core)
    assert_empty err
    answer = JSON.parse(out)
    found = answer["sites"].select { |site| site["location"].start_with?("libplanted.so+") }
                           .select { |site| site["live_bytes"] == 123_456 }
    assert_equal 1, found.size
    assert_equal answer["problems"].empty? ? 0 : 1, status.exitstatus
    [found.first["function"], answer["problems"]]
  end

  def refused(*words, **options)
    name, problems = ask(*words, **options)
    assert_nil name
    assert_equal 1, problems.size, problems.inspect
    problems.first
  end

  def test_from_its_place_on_this_machine
    at_its_place(:full) { assert_equal [NAME, []], ask }
    at_its_place(:full) do
      text, = Open3.capture2(*HEAPLINE, "core", left.core)
      assert_match(/libplanted\.so\+0x\h+  #{NAME}$/, text)
    end
    at_its_place(:stripped) { assert_equal [nil, []], ask }
  end

  def test_missing_or_another_build
    at_its_place(nil) do
      assert_equal "#{left.library} (build-id #{left.build_id}) is not on this machine: names from it are missing; " \
                   "--sysroot DIR or --debuginfod may find it", refused
    end
    at_its_place(:other) do
      other = self.class.identity(left.files[:other])
      refute_equal left.build_id, other
      assert_includes refused, "not on this machine (what lies there is build #{other}): names"
      root(left.library => :full) { |dir| assert_equal [NAME, []], ask("--sysroot", dir) }
      root(left.library => :other) { |dir| assert_includes refused("--sysroot", dir), "nor below #{dir} (what lies" }
    end
  end

  def test_debug_information_by_build_id
    name = "#{left.build_id[0, 2]}/#{left.build_id[2..]}.debug"
    at_its_place(nil) do
      ["usr/lib/debug/.build-id", ".build-id"].each do |folder|
        root("#{folder}/#{name}" => :debug) { |dir| assert_equal [NAME, []], ask("--sysroot", dir) }
        root("#{folder}/#{name}" => :other) { |dir| assert_match(/is neither/, refused("--sysroot", dir)) }
      end
    end
    at_its_place(:stripped) do
      root(".build-id/#{name}" => :debug) { |dir| assert_equal [NAME, []], ask("--sysroot", dir) }
    end
  end

  # Links lead within the root, as they would in the process's own.
  def test_no_link_leads_out_of_the_root
    at_its_place(nil) do
      root("elsewhere" => :full) do |dir|
        FileUtils.mkdir_p(File.dirname("#{dir}#{left.library}"))
        File.symlink("/elsewhere", "#{dir}#{left.library}")
        assert_equal [NAME, []], ask("--sysroot", dir)
        ["/../../../../elsewhere", "#{"../" * 20}elsewhere"].each { |target| assert_equal NAME, through(dir, target) }
        # Where only the machine has it, or the link leads to itself.
        away = left.files[:full]
        [away, "#{"../" * 20}#{away}", left.library].each { |target| assert_nil through(dir, target) }
      end
    end
  end

  def through(dir, target)
    File.unlink("#{dir}#{left.library}")
    File.symlink(target, "#{dir}#{left.library}")
    ask("--sysroot", dir).first
  end

  # The paths in a core are what its maker likes.
  def test_paths_that_lead_upwards
    core = "#{left.dir}/upwards"
    upwards = "#{"/../../../".ljust(left.library.size - 4, "/")}a.so"
    File.binwrite(core, File.binread(left.core).gsub("#{left.library}\0".b, "#{upwards}\0"))
    at_its_place(nil) do
      root("a.so" => :full) { |dir| assert_equal [NAME, []], ask("--sysroot", dir, core: core) }
      root { |dir| assert_match(/\A#{upwards} \(build-id /, refused("--sysroot", dir, core: core)) }
    end
  end

  # Not opened, or of no use: one sentence, and never a crash or a wait without end.
  def test_files_that_are_no_libraries
    whole = File.binread(left.files[:full])
    at_its_place(nil) do
      root do |dir|
        FileUtils.mkdir_p(File.dirname(path = "#{dir}#{left.library}"))
        things = { fifo: -> { File.mkfifo(path) }, folder: -> { Dir.mkdir(path) }, empty: -> { File.write(path, "") },
                   device: -> { File.symlink("/dev/zero", path) }, head: -> { File.binwrite(path, whole[0, 64]) },
                   words: -> { File.write(path, "no library") },
                   huge: -> { File.write(path, "x", 1 << 40) } }
        things.each do |thing, make|
          make.call
          said = refused("--sysroot", dir)
          assert_match(/\(build-id #{left.build_id}\) is neither/, said)
          told = %i[head words huge].include?(thing) ? "has no build-id" : "is no file with contents"
          assert_includes said, "(what lies there #{told})", thing unless thing == :device # which is not in the root
          FileUtils.rm_rf(path)
        end
      end
    end
  end

  def test_cut_libraries
    whole = File.binread(left.files[:full])
    at_its_place(nil) do
      root(left.library => :full) do |dir|
        [4096, whole.size / 2, whole.size - 1].each do |size|
          File.binwrite("#{dir}#{left.library}", whole[0, size])
          assert_includes refused("--sysroot", dir), "(what lies there is cut)"
        end
      end
    end
  end

  # Behind the build-id: whatever it says, there is an answer.
  def test_damaged_libraries
    whole = File.binread(left.files[:full])
    random = Random.new(7)
    at_its_place(nil) do
      root(left.library => :full) do |dir|
        6.times do
          damaged = whole.dup
          40.times { damaged.setbyte(random.rand(4096...whole.size), random.rand(256)) }
          File.binwrite("#{dir}#{left.library}", damaged)
          ask("--sysroot", dir)
        end
      end
    end
  end

  # Tools would open what a library names as its debug file. What is opened here is a pipe, whose writer waits for that.
  def test_debug_links_are_not_followed
    whole = File.binread(left.files[:stripped])
    at_its_place(nil) do
      root(left.library => :stripped) do |dir|
        File.mkfifo(pipe = "#{dir}/pipe")
        link = "#{"../" * 8}#{"/" * (File.basename(left.files[:debug]).size - 24 - pipe.size)}#{pipe}"
        File.binwrite("#{dir}#{left.library}", whole.sub(File.basename(left.files[:debug]).b, link))
        writer = Thread.new { File.open(pipe, "w").close }
        assert_equal [nil, []], ask("--sysroot", dir)
        assert writer.alive?, "the debug link was followed"
        writer.kill
      end
    end
  end

  # A library of which the core does not have the first page could be any build.
  def test_a_core_that_does_not_tell_builds
    core = "#{left.dir}/without"
    bytes = File.binread(left.core)
    at = bytes.index([left.build_id].pack("H*"))
    File.binwrite(core, bytes.tap { |all| all[at - 16, 12] = [4, 20, 99].pack("L3") })
    at_its_place(:full) { assert_match(/#{left.library} has no build-id, so that no file/, refused(core: core)) }
    bytes[at - 16, 12] = [4, 1 << 31, 3].pack("L3") # a length that there is not
    File.binwrite(core, bytes)
    at_its_place(:full) { assert_match(/#{left.library} has no build-id, so that no file/, refused(core: core)) }
  end

  # Texts that lie in the library's file, which no core has.
  def test_texts_from_libraries
    at_its_place(:full) { assert_equal [true, ""], planted_text }
    at_its_place(:stripped) { assert_equal [true, ""], planted_text }
    at_its_place(:other) do
      found, err = planted_text
      refute found
      assert_match(/\Aheapline: #{left.library} \(build-id .*: names from it are missing; .*\n\z/, err)
    end
    at_its_place(nil) do
      root(left.library => :stripped) { |dir| assert_equal [true, ""], planted_text("--sysroot", dir) }
    end
  end

  def planted_text(*words)
    _, err, = Open3.capture3(*HEAPLINE, "core", left.core, "heap", "--contents", *words, "-o", "#{left.dir}/heap.json")
    [File.foreach("#{left.dir}/heap.json").any? { |line| line.include?("these bytes lie in the library") }, err]
  end

  # ---- debuginfod ----

  # Serves what `files` has by path, and remembers what was asked for.
  def serving(files)
    server = TCPServer.new("127.0.0.1", 0)
    asked = []
    thread = Thread.new do
      while (client = server.accept)
        path = client.gets.to_s.split[1]
        nil until client.gets.to_s.chomp.empty?
        asked << path
        body = files[path] && File.binread(left.files.fetch(files[path]))
        client.write("HTTP/1.1 #{body ? "200 OK" : "404 Not Found"}\r\nContent-Length: #{body.to_s.bytesize}\r\n" \
                     "Connection: close\r\n\r\n", body.to_s)
        client.close
      end
    rescue IOError
      nil # closed
    end
    Dir.mktmpdir("heapline-cache") do |cache|
      yield({ "DEBUGINFOD_URLS" => "http://127.0.0.1:#{server.addr[1]}", "DEBUGINFOD_CACHE_PATH" => cache,
              "no_proxy" => "127.0.0.1" }, asked)
    end
  ensure
    server.close
    thread.join
  end

  def test_servers_are_asked_where_that_is_asked_for
    served = "/buildid/#{left.build_id}"
    at_its_place(nil) do
      serving("#{served}/debuginfo" => :debug) do |env, asked|
        refused(env: env)
        assert_empty asked
        answer = ask("--debuginfod", env: env)
        skip "libdebuginfod.so.1 is not installed: script/setup --develop" if answer[1].to_s.include?("libdebuginfod1")
        assert_equal [NAME, []], answer
        assert_includes asked, "#{served}/debuginfo" # and, as its functions are asked for, that of Ruby's
        refute_includes asked, "#{served}/executable"
      end
      serving("#{served}/executable" => :full) { |env,| assert_equal [NAME, []], ask("--debuginfod", env: env) }
      serving("#{served}/debuginfo" => :other) do |env,|
        assert_match(/is not on this machine, nor do debuginfod's servers have it/, refused("--debuginfod", env: env))
      end
    end
  end

  def test_servers_that_do_not_answer
    at_its_place(nil) do
      _, problems = ask("--debuginfod", env: { "DEBUGINFOD_URLS" => nil })
      assert_match(/\A--debuginfod: DEBUGINFOD_URLS names no server/, problems.first)
      serving({}) do |env,|
        # A port that is taken, so that nobody else begins to answer there.
        Addrinfo.tcp("127.0.0.1", 0).bind do |taken|
          port = taken.local_address.ip_port
          _, problems = ask("--debuginfod", env: env.merge("DEBUGINFOD_URLS" => "http://127.0.0.1:#{port}"))
          assert_match(/--debuginfod: the servers of DEBUGINFOD_URLS do not answer/, problems.first)
        end
      end
    end
  end

  # Without addr2line, and where that was to be better.
  def test_without_a_tool
    env = { "PATH" => left.dir }
    at_its_place(:full) do
      assert_equal [nil, []], ask(env: env)
      assert_match(/\Aonly exported functions have names: .*binutils/, refused("--sysroot", "/", env: env))
    end
  end

  def test_a_root_that_is_none
    _, err, status = Open3.capture3(*HEAPLINE, "core", "--sysroot", __FILE__, left.core)
    assert_equal "heapline: #{__FILE__} cannot be opened (--sysroot): Not a directory\n", err
    assert_equal 3, status.exitstatus
  end
end
