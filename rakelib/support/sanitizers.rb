# frozen_string_literal: true

module Tasks
  # The C tests' builds that find what a plain run cannot see.
  module Sanitizers
    # Leaks are not looked for: the core destroys nothing at exit, by design.
    COMMON = %w[-O1 -g -fno-omit-frame-pointer -DHL_DEBUG].freeze
    ADDRESS = CTests::Variant.new(
      name: "address", compiler: CFlags.clang,
      flags: COMMON + %w[-fsanitize=address,undefined -fno-sanitize-recover=all],
      env: { "ASAN_OPTIONS" => "detect_leaks=0:abort_on_error=0", "UBSAN_OPTIONS" => "print_stacktrace=1" }
    )
    THREAD = CTests::Variant.new(
      name: "thread", compiler: CFlags.clang, flags: COMMON + %w[-fsanitize=thread],
      env: { "TSAN_OPTIONS" => "halt_on_error=1" }
    )
    ALL = [ADDRESS, THREAD].freeze
  end
end
