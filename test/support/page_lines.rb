# frozen_string_literal: true

# What a twin writes of the pages of an object heap: two sizes of slots; a page that is full, two that few objects keep
# (in the one they are pinned), one without a live object, one in reserve. Site 4 is app.rb:12, 5 is not in the flight.
PAGE_LINES = <<~LINES
  {"type":"HEAPLINE","version":1,"pid":4711,"ruby":"ruby 3.4.1 (2026) [x86_64-linux]","time":"2026-11-21T10:00:00Z","generation":40}
  {"type":"PAGES","page_bytes":65536}
  {"type":"PAGE","address":"0x50000","birth":1,"slot_bytes":40,"slots":1600,"live":1600,"garbage":0,"pinned":80}
  {"type":"CLASS","number":1,"name":"Cart","internal":0}
  {"type":"CLASS","number":2,"name":"imemo_\\u001b[31m","internal":1}
  {"type":"PAGE","address":"0x10000","birth":12,"slot_bytes":40,"slots":1600,"live":3,"garbage":597,"pinned":0,"holders":[[1,4,2,0],[1,5,1,0]]}
  {"type":"PAGE","address":"0x20000","birth":12,"slot_bytes":160,"slots":400,"live":4,"garbage":0,"pinned":4,"holders":[[1,4,1,1],[2,0,3,3]]}
  {"type":"PAGE","address":"0x30000","slot_bytes":160,"slots":400,"live":0,"garbage":10,"pinned":0}
  {"type":"PAGE","address":"0x40000","birth":30}
  {"type":"HEAPLINE_END","lines":8}
LINES

# What an older Ruby would tell: neither what is garbage nor what is pinned.
UNMARKED_PAGE_LINES = PAGE_LINES.gsub(/"(garbage|pinned)":\d+,?/, "").gsub(",}", "}")
