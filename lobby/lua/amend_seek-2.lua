--[[
  Replaces the stored form of an open seek (its player's block list has changed, or its room), unless it has
  been replaced since it was read.

  Input:
    KEYS[1] seeks     hash  seek -> stored seek
    KEYS[2] changes   stream of what happens to seeks
    ARGV[1] seek
    ARGV[2] stored seek, JSON
    ARGV[3] room
    ARGV[4] stored seek as it was read, JSON

  Output:
    1 replaced
    0 it is not open any more, or another by now
]]
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[4] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 20000, '*', 'o', 'u', 'r', ARGV[3], 's', ARGV[1], 'j', ARGV[2])
return 1
