--[[
  Writes down what a worker says about one game. The highest version counts, whatever the order of arrival.

  Input:
    KEYS[1] games     hash  game -> summary, JSON with "version" and "status"
    KEYS[2] seats     hash  player -> {game: [status, at]}
    KEYS[3] live      zset  "room|started|game", all of score 0: games being played, in order
    KEYS[4] heard     zset  game -> when a worker last spoke of it, milliseconds
    KEYS[5] tables    zset  games by id, all of score 0, so that a shard is a range
    KEYS[6] over      zset  game -> when it ended: a late word does not bring it back
    KEYS[7] changes   stream: that a game is over changes its players' ratings
    ARGV[1] game
    ARGV[2] version
    ARGV[3] status: playing, adjourned or over
    ARGV[4] blue player
    ARGV[5] red player
    ARGV[6] started, milliseconds
    ARGV[7] member of `live`
    ARGV[8] summary, JSON
    ARGV[9] now, milliseconds

  Output:
    1 it is news
    0 it was known, or is older than what is known
]]
if redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  return 0
end
local players = {ARGV[4], ARGV[5]}
if ARGV[3] == 'over' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[7])
  redis.call('ZREM', KEYS[4], ARGV[1])
  redis.call('ZREM', KEYS[5], ARGV[1])
  redis.call('ZADD', KEYS[6], ARGV[9], ARGV[1])
  redis.call('XADD', KEYS[7], 'MAXLEN', '~', 20000, '*', 'o', 'o', 'r', ARGV[4], 's', ARGV[5])
  for n = 1, 2 do
    local text = redis.call('HGET', KEYS[2], players[n])
    if text then
      local seats = cjson.decode(text)
      seats[ARGV[1]] = nil
      if next(seats) then
        redis.call('HSET', KEYS[2], players[n], cjson.encode(seats))
      else
        redis.call('HDEL', KEYS[2], players[n])
      end
    end
  end
  return 1
end
redis.call('ZADD', KEYS[4], ARGV[9], ARGV[1])
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then
  local old = cjson.decode(known)
  if old.version > tonumber(ARGV[2]) or (old.version == tonumber(ARGV[2]) and old.status == ARGV[3]) then
    return 0
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[8])
redis.call('ZADD', KEYS[5], 0, ARGV[1])
if ARGV[3] == 'playing' then
  redis.call('ZADD', KEYS[3], 0, ARGV[7])
else
  redis.call('ZREM', KEYS[3], ARGV[7])
end
for n = 1, 2 do
  local text = redis.call('HGET', KEYS[2], players[n])
  local seats = text and cjson.decode(text) or {}
  local at = seats[ARGV[1]] and seats[ARGV[1]][2] or tonumber(ARGV[6])
  seats[ARGV[1]] = {ARGV[3], at}
  redis.call('HSET', KEYS[2], players[n], cjson.encode(seats))
end
return 1
