--[[
  Takes two players for one game: both or neither. All their open seeks fall; the match is written, and with it
  its entry in the seating stream. This is the only way into a game.

  Input:
    KEYS[1] marker    string  "ready|since" while matching may go on
    KEYS[2] seeks     hash  seek -> stored seek
    KEYS[3] open      zset  the list in order
    KEYS[4] mine      hash  player -> {"g": gateway, "s": {room: seek}}
    KEYS[5] seats     hash  player -> {game: [status, at]}
    KEYS[6] matches   hash  game -> match, JSON
    KEYS[7] seating   stream of matches to be seated
    KEYS[8] changes   stream of what happens to seeks
    ARGV[1] game
    ARGV[2] match, JSON
    ARGV[3] now, milliseconds
    ARGV[4] "1" if a player with a game under way may not be taken
    ARGV[5] most matches that may wait to be seated
    ARGV[6] first player      ARGV[7] his seek that must still be open, or ""
    ARGV[8] second player     ARGV[9] his seek that must still be open, or ""

  Output: {code, …}
     1 taken; then player, seek for each open seek that fell
     2 this game had been taken before (a repeated call)
    -1 the first seek is gone         -2 the second seek is gone
    -3 the first player has a game    -4 the second player has a game; then the game
    -5 matching is held, or too many matches wait to be seated
]]
if redis.call('HEXISTS', KEYS[6], ARGV[1]) == 1 then
  return {2}
end
local marker = redis.call('GET', KEYS[1])
if not marker or string.sub(marker, 1, 5) ~= 'ready' or redis.call('HLEN', KEYS[6]) >= tonumber(ARGV[5]) then
  return {-5}
end
local players = {ARGV[6], ARGV[8]}
local wanted = {ARGV[7], ARGV[9]}
for n = 1, 2 do
  if wanted[n] ~= '' then
    local text = redis.call('HGET', KEYS[2], wanted[n])
    if not text or cjson.decode(text).player ~= players[n] then
      return {-n}
    end
  end
end
local seated = {{}, {}}
for n = 1, 2 do
  local text = redis.call('HGET', KEYS[5], players[n])
  if text then
    seated[n] = cjson.decode(text)
    for game, seat in pairs(seated[n]) do
      if ARGV[4] == '1' and seat[1] ~= 'adjourned' then
        return {-2 - n, game}
      end
    end
  end
end
local reply = {1}
for n = 1, 2 do
  local mine = redis.call('HGET', KEYS[4], players[n])
  if mine then
    for room, seek in pairs(cjson.decode(mine).s) do
      local text = redis.call('HGET', KEYS[2], seek)
      if text then
        redis.call('HDEL', KEYS[2], seek)
        redis.call('ZREM', KEYS[3], string.format('%s|%013d|%s', room, cjson.decode(text).since, seek))
        redis.call('XADD', KEYS[8], 'MAXLEN', '~', 20000, '*', 'o', 'd', 'r', room, 's', seek)
        reply[#reply + 1] = players[n]
        reply[#reply + 1] = seek
      end
    end
    redis.call('HDEL', KEYS[4], players[n])
  end
  seated[n][ARGV[1]] = {'seating', tonumber(ARGV[3])}
  redis.call('HSET', KEYS[5], players[n], cjson.encode(seated[n]))
end
redis.call('HSET', KEYS[6], ARGV[1], ARGV[2])
redis.call('XADD', KEYS[7], '*', 'g', ARGV[1])
return reply
