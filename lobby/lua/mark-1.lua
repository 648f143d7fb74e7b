--[[
  Looks whether Redis still is the one that the lobby knows; marks an empty one.

  Input:
    KEYS[1] marker    string  "holding|since" or "ready|since"
    ARGV[1] now, milliseconds
    ARGV[2] "since" of the marker to open matching for, or "" to look only

  Output: the marker as it stands
]]
local marker = redis.call('GET', KEYS[1])
if not marker then
  marker = 'holding|' .. ARGV[1]
  redis.call('SET', KEYS[1], marker)
elseif ARGV[2] ~= '' and marker == 'holding|' .. ARGV[2] then
  marker = 'ready|' .. ARGV[2]
  redis.call('SET', KEYS[1], marker)
end
return marker
