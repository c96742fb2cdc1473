# frozen_string_literal: true

require "test_helper"
require "heapline/files/input"

# What is packed is tested through Input; here is what is missing.
class UnpackingTest < Minitest::Test
  def test_without_the_program_zstd
    in_directory do |directory|
      path = File.join(directory, "log.zst")
      File.binwrite(path, "\x28\xb5\x2f\xfd".b)
      replacing(IO, :popen, ->(*) { raise Errno::ENOENT }) do
        error = assert_raises(Heapline::InputError) { Heapline::Input.bytes(path) }
        assert_match(/log.zst is packed by zstd, and that program is not there: apt-get/, error.message)
      end
    end
  end
end
