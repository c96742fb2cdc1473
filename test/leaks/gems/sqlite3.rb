# frozen_string_literal: true

require "sqlite3"

10.times do
  database = SQLite3::Database.new(":memory:")
  database.create_function("twice", 1) { |function, value| function.result = value * 2 }
  database.execute("create table words (id integer primary key, word text)")
  database.transaction { 20.times { |each| database.execute("insert into words (word) values (?)", ["word #{each}"]) } }
  database.prepare("select twice(id), word from words where id > ?") { |statement| statement.execute(5).to_a }
  database.execute("select nothing from nowhere")
rescue SQLite3::SQLException
  database.close
end
