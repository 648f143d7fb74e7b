--[[
  The table is made: the match becomes two seats.

  Input:
    KEYS[1] matches   hash  game -> match, JSON
    KEYS[2] holders   hash  game -> replica that has it in hand
    KEYS[3] seats     hash  player -> {game: [status, at]}
    KEYS[4] last      hash  player -> "at|opponent" of the latest pairing
    KEYS[5] told      string  what the two are told, kept a minute
    KEYS[6] seating   stream of matches to be seated
    KEYS[7] undone    string  there if the match was undone
    ARGV[1] game
    ARGV[2] blue player
    ARGV[3] red player
    ARGV[4] now, milliseconds
    ARGV[5] what they are told, JSON
    ARGV[6] how long that is kept, milliseconds
    ARGV[7] entry of the seating stream
    ARGV[8] consumer group

  Output:
    1 seated by this call
    0 it had been before, or Redis has lost it (telling the two again does no harm)
   -1 the match was undone: its players wait, or sit elsewhere
]]
redis.call('XACK', KEYS[6], ARGV[8], ARGV[7])
redis.call('XDEL', KEYS[6], ARGV[7])
redis.call('HDEL', KEYS[2], ARGV[1])
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then
  return redis.call('EXISTS', KEYS[7]) == 1 and -1 or 0
end
local players = {ARGV[2], ARGV[3]}
for n = 1, 2 do
  local text = redis.call('HGET', KEYS[3], players[n])
  local seats = text and cjson.decode(text) or {}
  if seats[ARGV[1]] and seats[ARGV[1]][1] == 'seating' then
    seats[ARGV[1]][1] = 'playing'
    redis.call('HSET', KEYS[3], players[n], cjson.encode(seats))
  end
  redis.call('HSET', KEYS[4], players[n], ARGV[4] .. '|' .. players[3 - n])
end
redis.call('SET', KEYS[5], ARGV[5], 'PX', ARGV[6])
return 1
