# frozen_string_literal: true

# Compiled code as a twin writes it: a template that was compiled twice at lib/pages.rb:12, and a class.
module CodeLines
  FIRST = %({"type":"HEAPLINE","version":1,"pid":4711,"ruby":"ruby 3.4.1 (2026)",) +
          %("time":"2026-11-21T10:00:00Z","generation":9}\n)
  LAST = %({"type":"HEAPLINE_END","lines":9}\n)
  CODE = <<~LINES
    {"type":"HEAPLINE_CODE","address":"0x10","path":"app.erb","line":1,"column":0,"label":"render","method":"render","method_line":1,"bytes":400,"reached":1,"site":7,"generation":3}
    {"type":"HEAPLINE_CODE","address":"0x18","path":"app.erb","line":2,"column":5,"label":"block in render","method":"render","method_line":1,"bytes":300,"reached":1,"site":7,"generation":3}
    {"type":"HEAPLINE_CODE","address":"0x20","path":"app.erb","line":1,"column":0,"label":"render","method":"render","method_line":1,"bytes":400,"reached":1,"site":7,"generation":5}
    {"type":"HEAPLINE_CODE","address":"0x28","path":"app.erb","line":2,"column":5,"label":"block in render","method":"render","method_line":1,"bytes":300,"reached":1,"site":7,"generation":5}
    {"type":"HEAPLINE_CODE","address":"0x30","path":"/g/gems/shop-1.2/shop.rb","line":3,"column":2,"label":"open","method":"Shop.open","method_line":3,"bytes":600,"reached":1,"site":8,"generation":1}
    {"type":"HEAPLINE_CODE","address":"0x38","path":"/g/gems/shop-1.2/shop.rb","line":1,"column":0,"label":"<class:Shop>","method":"<class:Shop>","method_line":1,"bytes":500,"reached":0,"site":8,"generation":1}
  LINES
  SITES = <<~LINES
    {"type":"HEAPLINE_SITE","site":7,"file":"lib/pages.rb","line":12,"label":"Pages#compile","live_bytes":5000,"live_blocks":8}
    {"type":"HEAPLINE_SITE","site":8,"offset":4096,"library":"/usr/lib/libruby.so.3.4","live_bytes":90,"live_blocks":2}
    {"type":"HEAPLINE_SITE","site":9,"file":"/g/gems/shop-1.2/shop.rb","line":4,"label":"block in Shop.open","live_bytes":700,"live_blocks":2}
  LINES
  TEXT = FIRST + CODE + SITES

  # The same process later: one more copy, and no other code of the template's block.
  LATER = TEXT.sub("0x18", "0x19").lines.grep_v(/0x28/).join.sub('"generation":9', '"generation":20') +
          CODE.lines.first.sub("0x10", "0x50").sub('"generation":3', '"generation":15') +
          CODE.lines.first.sub("0x10", "0x58").sub('"generation":3', '"generation":16')

  def code(text = TEXT)
    Heapline::Heap::Code.parse(text)
  end
end
