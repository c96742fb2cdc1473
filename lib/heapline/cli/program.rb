# frozen_string_literal: true

module Heapline
  module CLI
    # The program that is to be run, looked at before exec so that what goes wrong can be said clearly.
    class Program
      # path: of the file to execute, or nil. problem: nil, or what is wrong. status: the exit status for it.
      attr_reader :path, :problem, :status

      def initialize(name, search_path)
        @name = name
        @path = name.include?("/") ? name : find(search_path.to_s)
        @problem, @status = look
        freeze
      end

      private

      def find(search_path)
        candidates = search_path.split(":").map { |directory| File.join(directory.empty? ? "." : directory, @name) }
        candidates.find { |path| File.file?(path) && File.executable?(path) } ||
          candidates.find { |path| File.file?(path) }
      end

      def look
        return ["#{@name}: command not found", NOT_FOUND] if @path.nil? || !File.exist?(@path)
        return ["#{@name}: is a directory", NOT_EXECUTABLE] if File.directory?(@path)
        return ["#{@name}: cannot be executed (no permission)", NOT_EXECUTABLE] unless File.executable?(@path)

        changes_user? ? [refusal, NOT_EXECUTABLE] : nil
      end

      # The dynamic linker ignores LD_PRELOAD for programs that change the user or group.
      def changes_user?
        status = File.stat(@path)
        (status.setuid? && status.uid != Process.uid) || (status.setgid? && status.gid != Process.gid)
      end

      def refusal
        "#{@name}: changes the user, so that the dynamic linker ignores LD_PRELOAD; put heapline behind it: " \
          "#{@name} heapline …"
      end
    end
  end
end
