# frozen_string_literal: true

# What a twin writes of the threads and fibers of a process.
STACK_LINES = <<~'LINES'
  {"type":"HEAPLINE","version":1,"pid":4711,"ruby":"ruby 3.4.1 (2026) [x86_64-linux]","time":"2026-11-21T10:00:00Z"}
  {"type":"THREAD","address":"0x10","label":"#<Thread:0x10 run>","backtrace":["app.rb:9:in 'Object#serve'","app.rb:12:in '<main>'"],"holds":[{"class":"Hash","count":1},{"class":"Array","count":4}]}
  {"type":"THREAD","address":"0x20","label":"#<Thread:0x20@one app.rb:5 sleep_forever>","backtrace":["app.rb:5:in 'Thread::Queue#pop'"],"holds":[{"class":"String","count":2}]}
  {"type":"THREAD","address":"0x30","label":"#<Thread:0x30@two app.rb:5 sleep_forever>","backtrace":["app.rb:5:in 'Thread::Queue#pop'"],"holds":[{"class":"String","count":1}]}
  {"type":"FIBER","address":"0x40","label":"#<Fiber:0x40 \u001b[31m.rb:7 (suspended)>","backtrace":[],"holds":[]}
  {"type":"HEAPLINE_END","lines":4}
LINES
