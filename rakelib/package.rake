# frozen_string_literal: true

require_relative "../lib/heapline/version"

PACKAGE = "pkg/heapline-#{Heapline::VERSION}.gem".freeze

desc "Build the gem into pkg/"
task :build do
  mkdir_p "pkg"
  sh RbConfig.ruby, "-S", "gem", "build", "heapline.gemspec", "-o", PACKAGE
end

desc "Build the gem and install it for this Ruby"
task install: :build do
  yours = defined?(Bundler) ? Bundler.original_env : ENV # where `gem install` would put it
  plain = Tasks::PlainRuby::ENVIRONMENT.merge("GEM_HOME" => yours["GEM_HOME"], "GEM_PATH" => yours["GEM_PATH"])
  sh plain, RbConfig.ruby, "-S", "gem", "install", "--local", "--no-document", PACKAGE
end

desc "Build the gem, try it in an empty GEM_HOME, and write its checksums and its bill of materials beside it; " \
     "publishes nothing"
task release: %i[compile build test:package] do
  cd "pkg" do
    name = File.basename(PACKAGE)
    { "sha256" => Digest::SHA256, "sha512" => Digest::SHA512 }.each do |ending, digest|
      File.write("#{name}.#{ending}", "#{digest.file(name).hexdigest}  #{name}\n")
    end
    objects = Dir[File.join(Tasks::ROOT, "lib/heapline/*.so")]
    Tasks::BillOfMaterials.new(name, objects: objects).write("#{name.delete_suffix(".gem")}.cdx.json")
    puts(Dir["#{name.delete_suffix(".gem")}*"].map { |file| "pkg/#{file}" })
  end
end
