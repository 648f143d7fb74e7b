--[[
  Notes from where a player has come to a table.

  Input:
    KEYS[1] game      hash    seat -> digest of an address; "said" once both were seen from one
    ARGV[1] seat of this player
    ARGV[2] the other seat
    ARGV[3] digest of the address
    ARGV[4] milliseconds that it is kept

  Output: 1 if both seats of the game are held from one address now and that was not known before, else 0
]]
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then
  return 0
end
return redis.call('HSETNX', KEYS[1], 'said', '1')
