-- complete_board-2.lua
-- Marks a leaderboard as whole, if the server still has everything since the mark was left: a server that has
-- been emptied meanwhile lacks the first scores.
-- KEYS[1] board: sorted set
-- KEYS[2] known: hash, "m:<mark>" = a build under way, "complete" = the board is whole
-- ARGV[1] mark
-- ARGV[2] seconds that both keys live from now on
-- -> 1 whole | 0 the mark has gone
if redis.call('HDEL', KEYS[2], 'm:' .. ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[2], 'complete', '1')
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return 1
