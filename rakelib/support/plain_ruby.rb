# frozen_string_literal: true

module Tasks
  # Ruby as a user starts it. `bundle exec` puts itself into RUBYOPT, from where every process of a test would load it;
  # the tests measure processes to the byte and must not see that.
  module PlainRuby
    module_function

    # Where gems lie: those of the bundle and those of the machine.
    def gem_path
      (Gem.path + Gem.default_path).uniq
    end

    def environment
      return {} unless ENV.key?("BUNDLE_GEMFILE")

      bundler = ENV.keys.grep(/\ABUNDLE(R)?_/).to_h { |name| [name, nil] }
      bundler.merge("RUBYOPT" => nil, "RUBYLIB" => nil, "GEM_HOME" => nil, "GEM_PATH" => gem_path.join(":"))
    end

    ENVIRONMENT = environment.freeze
  end
end
