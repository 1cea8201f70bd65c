-- Pins of sessions. `pins:<hash>` has version|pin, and ends when the session was not used for so long. Versions
-- are greater for later pins. A pin that is set or renewed is published: hash, version, remaining time, pin.

local function read_pin(call, name)
  local text = redis.call('GET', call.root .. 'pins:' .. name)
  if text then
    return text:match('^(%d+)|(.*)$')
  end
end

local function reply_pin(call, version, left, pin)
  return reply_with(call, { version, whole(math.max(0, left)), cjson.encode(pin) })
end

-- Args: the hash. Reply: the version, the remaining time and the pin; nothing without one.
register_account('pin_read', function(call, args)
  local version, pin = read_pin(call, args[1])
  if not version then
    return reply_with(call, {})
  end
  return reply_pin(call, version, redis.call('PTTL', call.root .. 'pins:' .. args[1]), pin)
end, when_full)

-- Sets a pin, or renews an equal one. Args: the hash, the version of the pin that its process has seen, 0 for none,
-- the time, the pin. Another pin than the one seen stays. Reply: as of `pin_read`.
register_account('pin_write', function(call, args)
  local name, seen, ttl, pin = unpack(args)
  local key = call.root .. 'pins:' .. name
  local version, known = read_pin(call, name)
  if version and known ~= pin and tonumber(version) ~= seen then
    return reply_pin(call, version, redis.call('PTTL', key), known)
  end
  local left = math.max(ttl, version and known == pin and redis.call('PTTL', key) or 0)
  if known ~= pin then
    version = whole(math.max(now_us(), (tonumber(version) or 0) + 1))
  end
  redis.call('SET', key, version .. '|' .. pin, 'PX', whole(left))
  redis.call('PUBLISH', call.root .. 'pins', table.concat({ name, version, whole(left), pin }, ' '))
  return reply_pin(call, version, left, pin)
end)
