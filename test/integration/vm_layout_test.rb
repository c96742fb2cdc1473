# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

# What the core knows of the VM's structures, held against the VM's own headers.
class VmLayoutTest < Minitest::Test
  CORE = File.expand_path("../../ext/heapline_core", __dir__)
  SOURCE = File.expand_path("../programs/vm_layout.c", __dir__)
  ROW = /\{(\d+(?:, \d+)+)\}/

  def setup
    skip "#{RUBY_DESCRIPTION} is in development: published headers are of another state" if RUBY_PATCHLEVEL == -1

    @headers = private_headers or skip "datadog-ruby_core_source is not installed, or has no Ruby #{series}"
  end

  def test_the_constants_are_the_headers
    assert_equal ["", true], compile(row)
  end

  # The proof can fail.
  def test_a_wrong_constant_is_refused
    output, ok = compile(row.merge("ROW_THREAD_EC" => row["ROW_THREAD_EC"] + 8))
    refute ok
    assert_match(/rb_thread_t.*ec/, output)
  end

  private

  def series
    RUBY_VERSION[/\A\d+\.\d+/]
  end

  # The row of this Ruby in ruby_vm.c, by the names of the fields in ruby_vm.h.
  def row
    rows = File.read(File.join(CORE, "vm", "ruby_vm.c")).scan(ROW).map { |row,| row.split(", ").map(&:to_i) }
    figures = rows.find { |major, minor, *| "#{major}.#{minor}" == series } or flunk "ruby_vm.c does not know #{series}"
    fields.map { |name| "ROW_#{name.upcase}" }.zip(figures.drop(2)).to_h
  end

  # But the version.
  def fields
    body = File.read(File.join(CORE, "vm", "ruby_vm.h"))[/struct hl_ruby_layout \{(.*?)\n\};/m, 1]
    body.gsub(%r{/\*.*?\*/}m, "").scan(/uint8_t ([^;]+);/).flat_map { |names,| names.split(", ") }.drop(2)
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
