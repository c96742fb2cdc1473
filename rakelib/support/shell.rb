# frozen_string_literal: true

require "open3"

module Tasks
  # Runs other programs. None of them gets our stdin, so that nothing here can wait for a person.
  module Shell
    module_function

    # Run a command, stdout and stderr together.
    # Returns [Boolean whether it succeeded, String what it printed]; a missing program counts as a failure.
    def capture(*command, env: {}, dir: ROOT)
      output, status = Open3.capture2e(env, *command, stdin_data: "", chdir: dir)
      [status.success?, output.scrub]
    rescue SystemCallError => e
      [false, "#{command.first}: #{e.message}\n"]
    end

    # Like capture, and prints each line as it comes.
    def stream(*command, env: {}, dir: ROOT)
      output = +""
      status = Open3.popen2e(env, *command, chdir: dir) do |stdin, lines, process|
        stdin.close
        lines.each_line do |line|
          line = line.scrub
          output << line
          print line
          $stdout.flush
        end
        process.value
      end
      [status.success?, output]
    rescue SystemCallError => e
      puts(message = "#{command.first}: #{e.message}\n")
      [false, message]
    end

    # Path of a program, or nil.
    def which(name)
      ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).map { |dir| File.join(dir, name) }.find do |path|
        File.file?(path) && File.executable?(path)
      end
    end
  end
end
