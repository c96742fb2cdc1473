# frozen_string_literal: true

require "digest"
require "json"
require "rubygems/package"
require "time"

module Tasks
  # What is in a gem, as CycloneDX 1.5 (JSON): the gem and each file of it with their checksums, and the libraries that
  # what it compiles needs, as the built shared objects name them.
  class BillOfMaterials
    NEEDED = /\(NEEDED\)\s+Shared library: \[(.+)\]/

    # package: path of a .gem file. objects: built shared objects.
    def initialize(package, objects:, time: Time.now.utc)
      @package = package
      @objects = objects
      @time = time
    end

    # A Hash that JSON takes as it is.
    def to_h
      { bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
        metadata: { timestamp: @time.iso8601, component: gem_itself },
        components: contents + libraries,
        dependencies: [{ ref: reference, dependsOn: libraries.map { |one| one[:"bom-ref"] } }] }
    end

    def write(path)
      File.write(path, "#{JSON.pretty_generate(to_h)}\n")
    end

    private

    def spec
      @spec ||= Gem::Package.new(@package).spec
    end

    def reference
      "pkg:gem/#{spec.name}@#{spec.version}"
    end

    def gem_itself
      { type: "library", "bom-ref": reference, name: spec.name, version: spec.version.to_s, purl: reference,
        description: spec.summary, licenses: spec.licenses.map { |id| { license: { id: id } } },
        hashes: hashes(File.binread(@package)) }
    end

    def hashes(bytes)
      [{ alg: "SHA-256", content: Digest::SHA256.hexdigest(bytes) },
       { alg: "SHA-512", content: Digest::SHA512.hexdigest(bytes) }]
    end

    # The files of the package as they are in it, not as they lie in the checkout.
    def contents
      found = []
      File.open(@package, "rb") do |file|
        Gem::Package::TarReader.new(file).each do |entry|
          next unless entry.full_name == "data.tar.gz"

          Zlib::GzipReader.wrap(StringIO.new(entry.read)) do |data|
            Gem::Package::TarReader.new(data).each do |one|
              found << { type: "file", name: one.full_name, hashes: hashes(one.read.to_s) } if one.file?
            end
          end
        end
      end
      found
    end

    def libraries
      @libraries ||= @objects.flat_map { |object| needed(object) }.uniq.sort.map do |name|
        { type: "library", "bom-ref": "lib:#{name}", name: name, scope: "required" }
      end
    end

    def needed(object)
      ok, output = Shell.capture("readelf", "-d", object)
      raise "readelf -d #{object} failed: #{output}" unless ok

      output.scan(NEEDED).flatten
    end
  end
end
