# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"

module Heapline
  module Places
    class NativeFrameTest < Minitest::Test
      def test_its_name_is_the_function_or_the_place
        assert_equal "leak", LeakReports.frame.name
        assert_equal "foo.c:12", LeakReports.frame(function: nil).name
        assert_equal "libfoo.so+0x1f30", LeakReports.frame(function: nil, file: nil).name
        assert_equal "unknown code", LeakReports.frame(function: nil, file: nil, path: nil).name
        assert LeakReports.frame.frozen?
      end

      def test_what_is_the_systems
        %w[libc.so.6 libruby-3.1.so.3.1.2 libstdc++.so.6 ld-linux-x86-64.so.2 ruby ruby3.1 libz.so.1].each do |name|
          assert_predicate LeakReports.frame(path: "/lib/#{name}"), :system?, name
        end
        assert_predicate LeakReports.frame(path: nil), :system?
        %w[parser.so libcurl.so.4 libxml2.so.2 rubyish.so].each do |name|
          refute_predicate LeakReports.frame(path: "/lib/#{name}"), :system?, name
        end
      end

      STANDARD = ["alloc::alloc::alloc", "<alloc::alloc::Global>::alloc_impl", "core::ops::function::FnOnce::call_once",
                  "<alloc::vec::Vec<T,A> as core::iter::traits::collect::FromIterator<T>>::from_iter",
                  "<alloc::boxed::Box<dyn core::ops::FnOnce<(), Output = ()>> as core::ops::drop::Drop>::drop",
                  "std::vector<int, std::allocator<int> >::push_back(int const&)",
                  "void std::vector<app::Row>::_M_realloc_insert<app::Row const&>(app::Row const&)",
                  "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
                  "std::unique_ptr<app::Row>::operator->() const",
                  "__gnu_cxx::new_allocator<int>::allocate(unsigned long)"].freeze
      OWN = ["parse", "allocate", "app::parse(std::string const&)", "std::string app::name<int>(int)", "alloc", "core",
             "std::vector<int>* (anonymous namespace)::rows<int>()", "app::Row::operator std::string() const",
             "core::parse(char const*)", "core::Row::operator=(core::Row const&)", "int* alloc::rows<int>(int)",
             "app::load()::{lambda(std::string)#1}::operator()(std::string) const", "lib::rs_thread::{{closure}}",
             "<lib::Row as core::clone::Clone>::clone", "<alloc::vec::Vec<T> as lib::Rows>::lose", nil].freeze

      def test_what_is_of_the_standard_library_of_cxx_or_rust
        STANDARD.each { |name| assert_predicate LeakReports.frame(function: name, file: nil), :standard_library?, name }
        OWN.each { |name| refute_predicate LeakReports.frame(function: name), :standard_library?, name.inspect }
        %w[/rustc/59807616/library/alloc/src/alloc.rs /usr/include/c++/12/bits/new_allocator.h
           /rust/deps/hashbrown-0.15.2/src/raw/mod.rs
           /u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/alloc.rs].each do |file|
          assert_predicate LeakReports.frame(function: "<T as U>::into", file: file), :standard_library?, file
        end
      end

      def test_names_that_are_no_text
        of = ->(function, file) { LeakReports.frame(function: function, file: file).standard_library? }
        assert of["mine::\xFF", "/\xFF/include/c++/12/vector"]
        assert of["std::\xFF", "/a/\xFF.cpp"]
        refute of["mine::\xFF", "/a/\xFF.cpp"]
      end
    end
  end
end
