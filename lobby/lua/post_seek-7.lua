--[[
  Posts a seek; the player's open seek in the same room makes way. The change says whom the player has met last.

  Input:
    KEYS[1] seeks     hash  seek -> stored seek
    KEYS[2] open      zset  "room|since|seek", all of score 0: the list in order
    KEYS[3] mine      hash  player -> {"g": gateway, "s": {room: seek}}
    KEYS[4] seats     hash  player -> {game: [status, at]}
    KEYS[5] changes   stream of what happens to seeks
    KEYS[6] leaving   zset  player -> when the seeks end
    KEYS[7] last      hash  player -> "at|opponent" of the latest pairing
    ARGV[1] seek
    ARGV[2] stored seek, JSON
    ARGV[3] player
    ARGV[4] room
    ARGV[5] member of `open`
    ARGV[6] gateway
    ARGV[7] most seeks a player may have, 0 for no limit
    ARGV[8] "1" if a player with a game under way may not seek

  Output: {code, detail}
     1 posted; detail is the seek that made way, or ""
     2 it was open already
    -1 too many open seeks (judged before the next)
    -2 the player has a game; detail is the game
]]
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return {2, ''}
end
local mine = {g = ARGV[6], s = {}}
local text = redis.call('HGET', KEYS[3], ARGV[3])
if text then
  mine.s = cjson.decode(text).s
end
local others = 0
for room, _ in pairs(mine.s) do
  if room ~= ARGV[4] then
    others = others + 1
  end
end
if tonumber(ARGV[7]) > 0 and others >= tonumber(ARGV[7]) then
  return {-1, ''}
end
if ARGV[8] == '1' then
  local seats = redis.call('HGET', KEYS[4], ARGV[3])
  if seats then
    for game, seat in pairs(cjson.decode(seats)) do
      if seat[1] ~= 'adjourned' then
        return {-2, game}
      end
    end
  end
end
local old = mine.s[ARGV[4]]
if old then
  local stored = redis.call('HGET', KEYS[1], old)
  if stored then
    redis.call('ZREM', KEYS[2], string.format('%s|%013d|%s', ARGV[4], cjson.decode(stored).since, old))
    redis.call('HDEL', KEYS[1], old)
    redis.call('XADD', KEYS[5], 'MAXLEN', '~', 20000, '*', 'o', 'd', 'r', ARGV[4], 's', old)
  end
end
mine.s[ARGV[4]] = ARGV[1]
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[5])
redis.call('HSET', KEYS[3], ARGV[3], cjson.encode(mine))
local met = redis.call('HGET', KEYS[7], ARGV[3]) or ''
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 20000, '*', 'o', 'a', 'r', ARGV[4], 's', ARGV[1], 'j', ARGV[2], 'l', met)
redis.call('ZREM', KEYS[6], ARGV[3])
return {1, old or ''}
