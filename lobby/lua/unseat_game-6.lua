--[[
  Forgets a game that no worker holds any more, and the seats at it.

  Input:
    KEYS[1] games     hash  game -> summary, JSON
    KEYS[2] seats     hash  player -> {game: [status, at]}
    KEYS[3] live      zset  games being played, in order
    KEYS[4] heard     zset  game -> when a worker last spoke of it, milliseconds
    KEYS[5] tables    zset  games by id
    KEYS[6] matches   hash  game -> match: a game that is being seated is left alone
    ARGV[1] game
    ARGV[2] forget it only if nobody spoke of it after this, milliseconds
    ARGV[3] a player who is said to sit there, for a game without summary; or ""

  Output:
    1 forgotten
    0 it stays: it was spoken of since, or is being seated
    2 nothing was known of it
]]
if redis.call('HEXISTS', KEYS[6], ARGV[1]) == 1 then
  return 0
end
local heard = redis.call('ZSCORE', KEYS[4], ARGV[1])
if heard and tonumber(heard) > tonumber(ARGV[2]) then
  return 0
end
local players = {ARGV[3]}
local text = redis.call('HGET', KEYS[1], ARGV[1])
if text then
  local game = cjson.decode(text)
  players = {game.blue.id, game.red.id}
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[3], string.format('%s|%013d|%s', game.room, game.started_at, ARGV[1]))
end
local known = text and 1 or 2
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
for n = 1, #players do
  local held = players[n] ~= '' and redis.call('HGET', KEYS[2], players[n])
  if held then
    local seats = cjson.decode(held)
    if seats[ARGV[1]] then
      known = 1
      seats[ARGV[1]] = nil
      if next(seats) then
        redis.call('HSET', KEYS[2], players[n], cjson.encode(seats))
      else
        redis.call('HDEL', KEYS[2], players[n])
      end
    end
  end
end
return known
