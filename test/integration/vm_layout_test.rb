# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

# What the core knows of the VM's structures, held against the VM's own headers.
class VmLayoutTest < Minitest::Test
  CORE = File.expand_path("../../ext/heapline_core", __dir__)
  SOURCE = File.expand_path("../programs/vm_layout.c", __dir__)
  ROW = /\{(\d+), (\d+), (\d+), (\d+), (\d+)\}/

  def setup
    @headers = private_headers or skip "datadog-ruby_core_source is not installed, or has no Ruby #{series}"
  end

  def test_the_constants_are_the_headers
    assert_equal ["", true], compile(row)
  end

  # The proof can fail.
  def test_a_wrong_constant_is_refused
    output, ok = compile(row.merge("THREAD_EC" => row["THREAD_EC"] + 8))
    refute ok
    assert_match(/rb_thread_t.*ec/, output)
  end

  private

  def series
    RUBY_VERSION[/\A\d+\.\d+/]
  end

  # The row of this Ruby in ruby_vm.c: major, minor, size of a frame, rb_thread_t.ec, where an embedded string begins.
  def row
    rows = File.read(File.join(CORE, "ruby_vm.c")).scan(ROW).map { |figures| figures.map(&:to_i) }
    figures = rows.find { |major, minor, *| "#{major}.#{minor}" == series } or flunk "ruby_vm.c does not know #{series}"
    %w[FRAME_SIZE THREAD_EC STRING_EMBEDDED].zip(figures.drop(2)).to_h
  end

  # The private headers of this series that fit its public ones; nil without any.
  def private_headers
    folder = Gem::Specification.find_by_name("datadog-ruby_core_source").gem_dir
    Dir[File.join(folder, "lib/datadog/ruby_core_source/ruby-#{series}.*")].max
  rescue Gem::MissingSpecError
    nil
  end

  # [the compiler's words, whether it compiled]
  def compile(constants)
    public_headers = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir")
    flags = constants.map { |name, value| "-D#{name}=#{value}" }
    includes = [@headers, *public_headers, CORE].map { |path| "-I#{path}" }
    output, status = Open3.capture2e("gcc", "-w", "-fsyntax-only", *includes, *flags, SOURCE)
    [output, status.success?]
  end
end
