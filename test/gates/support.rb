# frozen_string_literal: true

require "minitest/autorun"
require "fileutils"
require "tmpdir"
require_relative "../../rakelib/support"

# A small checkout in which one thing is wrong.
module BadTree
  # files: Hash of relative path to content. Yields the root.
  def in_tree(files)
    Dir.mktmpdir("heapline-gate") do |root|
      files.each do |path, content|
        full = File.join(root, path)
        FileUtils.mkdir_p(File.dirname(full))
        File.write(full, content)
      end
      yield root
    end
  end

  # The gate finds nothing in `good` and what `pattern` says in `bad`.
  def assert_gate(pattern, good:, bad:, &gate)
    in_tree(good) { |root| assert_empty gate.call(root).problems }
    in_tree(bad) { |root| assert_match pattern, gate.call(root).problems.join("\n") }
  end
end
