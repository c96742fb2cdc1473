# frozen_string_literal: true

# Texts that are kept and looked at: test/fixtures/FOLDER/NAME.txt.
module Golden
  # To look at it and keep it: HEAPLINE_GOLDEN=write, then git diff. name: "FOLDER/NAME"
  def assert_golden(name, text)
    path = File.join(Heapline::TestHelper::ROOT, "test", "fixtures", "#{name}.txt")
    text = text.gsub(/[ \t]+$/, "")
    File.write(path, text) if ENV["HEAPLINE_GOLDEN"] == "write"
    assert_equal File.read(path, encoding: "UTF-8"), text
  end
end
