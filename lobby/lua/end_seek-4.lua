--[[
  Ends one open seek.

  Input:
    KEYS[1] seeks     hash  seek -> stored seek
    KEYS[2] open      zset  the list in order
    KEYS[3] mine      hash  player -> {"g": gateway, "s": {room: seek}}
    KEYS[4] changes   stream of what happens to seeks
    ARGV[1] seek
    ARGV[2] player that asks

  Output:
     1 ended
     0 no such open seek
    -1 it is another player's
]]
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then
  return 0
end
local seek = cjson.decode(text)
if seek.player ~= ARGV[2] then
  return -1
end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], string.format('%s|%013d|%s', seek.room, seek.since, ARGV[1]))
redis.call('XADD', KEYS[4], 'MAXLEN', '~', 20000, '*', 'o', 'd', 'r', seek.room, 's', ARGV[1])
local mine = redis.call('HGET', KEYS[3], seek.player)
if mine then
  local held = cjson.decode(mine)
  if held.s[seek.room] == ARGV[1] then
    held.s[seek.room] = nil
  end
  if next(held.s) then
    redis.call('HSET', KEYS[3], seek.player, cjson.encode(held))
  else
    redis.call('HDEL', KEYS[3], seek.player)
  end
end
return 1
