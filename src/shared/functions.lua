-- The functions that the gateways with one prefix run on their Redis or Valkey server.
--
-- The loader puts a header in front of this text: the name of the library, which contains a hash of the
-- text, as the global-free local `library`. Functions of other releases have other names, so releases
-- can share a server.
--
-- Every function gets the root of all keys as its only key: `{prefix}:`. The braces put all keys into
-- one slot of a cluster. Arguments and replies are texts. Each reply begins with the time of the server
-- in milliseconds.

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- `%.0f`, because tostring keeps only 14 digits.
local function whole(number)
  return string.format('%.0f', number)
end

local function register(name, run, flags)
  redis.register_function({
    function_name = library .. '_' .. name,
    callback = function(keys, args)
      return run(keys[1], args)
    end,
    flags = flags or {},
  })
end

-- Proves that the server can be written to.
register('beat', function(root)
  redis.call('SET', root .. 'beat', '1', 'PX', '60000')
  return { whole(now_ms()) }
end)
