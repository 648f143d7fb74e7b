--[[
  One of two players asks for another game.

  Input:
    KEYS[1] rematch   hash  game -> {player: when}
    ARGV[1] game
    ARGV[2] player who asks
    ARGV[3] the other
    ARGV[4] now, milliseconds
    ARGV[5] how long a question stands, milliseconds

  Output:
    1 the other has asked too; both questions are used up
    0 the question stands
]]
local text = redis.call('HGET', KEYS[1], ARGV[1])
local asked = text and cjson.decode(text) or {}
local other = asked[ARGV[3]]
if other and tonumber(ARGV[4]) - other <= tonumber(ARGV[5]) then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 1
end
asked[ARGV[2]] = tonumber(ARGV[4])
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(asked))
return 0
