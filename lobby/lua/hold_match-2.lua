--[[
  Takes a match in hand: from now on nobody else may undo it.

  Input:
    KEYS[1] matches   hash  game -> match, JSON
    KEYS[2] holders   hash  game -> replica that has it in hand
    ARGV[1] game
    ARGV[2] replica

  Output: the match, or nil if it has been seated or undone
]]
local match = redis.call('HGET', KEYS[1], ARGV[1])
if match then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
return match
