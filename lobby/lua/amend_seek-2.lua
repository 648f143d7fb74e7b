--[[
  Replaces the stored form of an open seek (its player's block list has changed).

  Input:
    KEYS[1] seeks     hash  seek -> stored seek
    KEYS[2] changes   stream of what happens to seeks
    ARGV[1] seek
    ARGV[2] stored seek, JSON
    ARGV[3] room

  Output:
    1 replaced
    0 it is not open any more
]]
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 20000, '*', 'o', 'u', 'r', ARGV[3], 's', ARGV[1], 'j', ARGV[2])
return 1
