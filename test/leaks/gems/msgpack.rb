# frozen_string_literal: true

require "msgpack"

factory = MessagePack::Factory.new
factory.register_type(1, Symbol)
value = { "a" => [1, 2.5, nil, true, "x" * 5000], "b" => { "c" => :d } }
50.times do
  packed = factory.dump(value)
  factory.load(packed)
  MessagePack::Unpacker.new.feed_each(MessagePack.pack([1, 2, 3])) { |each| each }
  MessagePack.unpack(packed[0, 10])
rescue EOFError, MessagePack::UnpackError
  MessagePack::Timestamp.from_msgpack_ext([1].pack("L>"))
end
