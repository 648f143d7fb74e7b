-- put_scores-2.lua
-- Writes scores on a leaderboard, each unless one of more games is there: updates may come in any order.
-- KEYS[1] board: sorted set, score = -rating, so that equal ratings stand in the order of their ids
-- KEYS[2] known: hash, "g:<player>" = games behind the score on the board
-- ARGV[1] triples: how many follow
-- ARGV[2] triples: player, -rating, games, and so on
-- -> how many were written
local written = 0
for i = 0, tonumber(ARGV[1]) - 1 do
  local player, score, games = ARGV[2 + i * 3], ARGV[3 + i * 3], ARGV[4 + i * 3]
  local field = 'g:' .. player
  local known = tonumber(redis.call('HGET', KEYS[2], field) or '-1')
  if tonumber(games) > known then
    redis.call('ZADD', KEYS[1], score, player)
    redis.call('HSET', KEYS[2], field, games)
    written = written + 1
  end
end
return written
