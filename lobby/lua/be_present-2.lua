--[[
  A player's first connection to a gateway has come, the last has gone, or the gateway says that it still holds one.

  Input:
    KEYS[1] mine      hash  player -> {"g": gateway, "s": {room: seek}}
    KEYS[2] leaving   zset  player -> when the seeks end, milliseconds
    ARGV[1] player
    ARGV[2] gateway
    ARGV[3] "1" connected, "0" gone
    ARGV[4] when the seeks end if nobody claims the player, milliseconds

  Output:
    1 the player has open seeks, and where they hang has changed
    0 nothing to do
]]
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 0
end
local mine = cjson.decode(text)
if ARGV[3] == '1' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  if mine.g == ARGV[2] then
    return 0
  end
  mine.g = ARGV[2]
  redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(mine))
  return 1
end
if mine.g ~= ARGV[2] then
  return 0
end
redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[1])
return 1
