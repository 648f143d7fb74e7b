--[[
  No table could be made: the match is undone and its seeks are open again, their age kept.

  Input:
    KEYS[1] matches   hash  game -> match, JSON
    KEYS[2] holders   hash  game -> replica that has it in hand
    KEYS[3] seats     hash  player -> {game: [status, at]}
    KEYS[4] seeks     hash  seek -> stored seek
    KEYS[5] open      zset  the list in order
    KEYS[6] mine      hash  player -> {"g": gateway, "s": {room: seek}}
    KEYS[7] changes   stream of what happens to seeks
    KEYS[8] leaving   zset  player -> when the seeks end: a gateway must claim the player in time
    KEYS[9] seating   stream of matches to be seated
    KEYS[10] undone   string  kept ten minutes, for a replica that wakes up and has the table made after all
    ARGV[1] game
    ARGV[2] replica
    ARGV[3] blue player
    ARGV[4] red player
    ARGV[5] when the seeks end unless a gateway claims the player, milliseconds
    ARGV[6] entry of the seating stream
    ARGV[7] consumer group
    ARGV[8] number of seeks that follow; for each: seek, stored seek, player, room, member of `open`, gateway

  Output: {code, seek…}
     1 undone; then the seeks that are open again
     0 another replica has it in hand, or it is gone
]]
redis.call('XACK', KEYS[9], ARGV[7], ARGV[6])
redis.call('XDEL', KEYS[9], ARGV[6])
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] or redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return {0}
end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('SET', KEYS[10], '1', 'PX', 600000)
for n = 3, 4 do
  local text = redis.call('HGET', KEYS[3], ARGV[n])
  if text then
    local seats = cjson.decode(text)
    seats[ARGV[1]] = nil
    if next(seats) then
      redis.call('HSET', KEYS[3], ARGV[n], cjson.encode(seats))
    else
      redis.call('HDEL', KEYS[3], ARGV[n])
    end
  end
end
local reply = {1}
for n = 1, tonumber(ARGV[8]) do
  local at = 3 + n * 6
  local seek, stored, player, room = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local text = redis.call('HGET', KEYS[6], player)
  local mine = text and cjson.decode(text) or {g = ARGV[at + 5], s = {}}
  if not mine.s[room] then
    mine.s[room] = seek
    redis.call('HSET', KEYS[4], seek, stored)
    redis.call('ZADD', KEYS[5], 0, ARGV[at + 4])
    redis.call('HSET', KEYS[6], player, cjson.encode(mine))
    redis.call('XADD', KEYS[7], 'MAXLEN', '~', 20000, '*', 'o', 'a', 'r', room, 's', seek, 'j', stored)
    redis.call('ZADD', KEYS[8], ARGV[5], player)
    reply[#reply + 1] = seek
  end
end
return reply
