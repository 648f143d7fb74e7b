--[[
  Ends all seeks of a player whose connections have gone for good.

  Input:
    KEYS[1] seeks     hash  seek -> stored seek
    KEYS[2] open      zset  the list in order
    KEYS[3] mine      hash  player -> {"g": gateway, "s": {room: seek}}
    KEYS[4] changes   stream of what happens to seeks
    KEYS[5] leaving   zset  player -> when the seeks end, milliseconds
    ARGV[1] player
    ARGV[2] now, milliseconds: nothing happens if the player is not due by then

  Output: the seeks that ended
]]
local due = redis.call('ZSCORE', KEYS[5], ARGV[1])
if not due or tonumber(due) > tonumber(ARGV[2]) then
  return {}
end
redis.call('ZREM', KEYS[5], ARGV[1])
local ended = {}
local mine = redis.call('HGET', KEYS[3], ARGV[1])
if mine then
  for room, seek in pairs(cjson.decode(mine).s) do
    local text = redis.call('HGET', KEYS[1], seek)
    if text then
      redis.call('HDEL', KEYS[1], seek)
      redis.call('ZREM', KEYS[2], string.format('%s|%013d|%s', room, cjson.decode(text).since, seek))
      redis.call('XADD', KEYS[4], 'MAXLEN', '~', 20000, '*', 'o', 'd', 'r', room, 's', seek)
      ended[#ended + 1] = seek
    end
  end
  redis.call('HDEL', KEYS[3], ARGV[1])
end
return ended
