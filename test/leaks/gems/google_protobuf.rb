# frozen_string_literal: true

require "google/protobuf"
require "google/protobuf/struct_pb"
require "google/protobuf/well_known_types"

50.times do
  value = Google::Protobuf::Struct.from_hash("a" => 1, "b" => ["x" * 100, nil, { "c" => true }])
  Google::Protobuf::Struct.decode(Google::Protobuf::Struct.encode(value)).to_h
  Google::Protobuf::Struct.decode_json(value.to_json)
  Google::Protobuf.deep_copy(value.dup)
  Google::Protobuf::Struct.decode("\xff\xff")
rescue Google::Protobuf::ParseError
  Google::Protobuf::Timestamp.new(seconds: 1).to_time
end
