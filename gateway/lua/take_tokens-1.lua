--[[
  Takes tokens out of a bucket that all gateways share. The bucket is one number: when it will be full again.

  Input:
    KEYS[1] bucket    string  milliseconds by this server's clock; gone once it is full
    ARGV[1] burst     tokens in a full bucket
    ARGV[2] per_minute    tokens that come back in a minute
    ARGV[3] cost      tokens asked for
    ARGV[4] 1 to take them, 0 to look only

  Output: 0 if they were there, else milliseconds until they will be (nothing is taken then)
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local each = 60000 / tonumber(ARGV[2])
local room = tonumber(ARGV[1]) * each
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
full = full + tonumber(ARGV[3]) * each
if full - now > room then
  return math.max(1, math.ceil(full - now - room))
end
if ARGV[4] == '1' then
  redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.max(1, math.ceil(full - now)))
end
return 0
