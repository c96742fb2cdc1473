# frozen_string_literal: true

require "open3"

# The programs that formats are made for: a test without the one that it needs is skipped.
module Readers
  # Debian's own Python: only that one has Debian's modules.
  PYTHON = "/usr/bin/python3"

  # What `snapshot` is in a format (binary String); options as the format's.
  def rendered(format, snapshot, **options)
    io = StringIO.new(String.new(encoding: Encoding::BINARY))
    format.new(**options).render(snapshot, io)
    io.string
  end

  # A file of this test with these bytes; its path.
  def kept(bytes, name)
    @readers_directory ||= Dir.mktmpdir("heapline-test")
    path = File.join(@readers_directory, name)
    File.binwrite(path, bytes)
    path
  end

  def teardown
    FileUtils.remove_entry(@readers_directory) if @readers_directory
    super
  end

  # What `go tool pprof` prints.
  def pprof(*arguments)
    read_by("go", "tool", "pprof", *arguments, env: { "GOTOOLCHAIN" => "local", "PPROF_TMPDIR" => Dir.tmpdir })
  end

  # What `promtool check metrics` complains of.
  def promtool(text)
    read_by("promtool", "check", "metrics", stdin_data: text)
  end

  # What a program in Python prints, with `input` as its standard input. needs: the module that it cannot do without.
  def python(program, input, *arguments, needs: nil)
    skip "no #{PYTHON}" unless File.executable?(PYTHON)
    skip "no Python module #{needs}" if needs && !system(PYTHON, "-c", "import #{needs}", err: File::NULL)
    read_by(PYTHON, "-c", program, *arguments, stdin_data: input, env: { "PYTHONIOENCODING" => "utf-8" })
  end

  private

  # What the program prints, on both streams; it must end well.
  def read_by(command, *arguments, env: {}, **options)
    skip "no #{command}" unless which(command)
    output, status = Open3.capture2e(plain_environment(**env), command, *arguments, binmode: true, **options)
    output = output.force_encoding(Encoding::UTF_8)
    assert status.success?, "#{command} #{arguments.join(" ")}: #{output}"
    output
  end

  def which(command)
    ENV.fetch("PATH").split(":").any? { |directory| File.executable?(File.join(directory, command)) } ||
      File.executable?(command)
  end
end
