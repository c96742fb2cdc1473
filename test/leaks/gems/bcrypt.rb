# frozen_string_literal: true

require "bcrypt"

5.times do
  password = BCrypt::Password.create("secret", cost: 4)
  password == "secret" # rubocop:disable Lint/Void
  BCrypt::Password.new("no hash")
rescue BCrypt::Errors::InvalidHash
  BCrypt::Engine.generate_salt(5)
end
