-- Circuits. The hash `circuits` has a field for each circuit that has counted a fault:
-- faults|open until|probe|end of the probe's place|version, in milliseconds of the server's time. Without
-- `open until` the circuit is closed. Each change is published in the form of the reply, and has a version
-- that is greater than that of the change before.

-- A circuit without a field is closed. Its version makes processes that know an earlier state take that over.
local function read_circuit(root, name)
  local text = redis.call('HGET', root .. 'circuits', name) or ('0|||0|' .. whole(now_us()))
  local faults, open_until, probe, probe_end, version =
    text:match('^(%d+)|(%d*)|([^|]*)|(%d+)|(%d+)$')
  return {
    name = name,
    faults = tonumber(faults),
    open_until = tonumber(open_until),
    probe = probe,
    probe_end = tonumber(probe_end),
    version = tonumber(version),
  }
end

local function describe_circuit(circuit, now)
  local open_for, probing_for = '-', 0
  if circuit.open_until then
    open_for = whole(math.max(0, circuit.open_until - now))
    if circuit.probe ~= '' then probing_for = math.max(0, circuit.probe_end - now) end
  end
  return table.concat({
    whole(circuit.version), whole(circuit.faults), open_for, whole(probing_for), circuit.name,
  }, ' ')
end

local function write_circuit(root, circuit)
  circuit.version = math.max(circuit.version + 1, now_us())
  if circuit.open_until or circuit.faults > 0 then
    redis.call('HSET', root .. 'circuits', circuit.name, table.concat({
      whole(circuit.faults), circuit.open_until and whole(circuit.open_until) or '', circuit.probe,
      whole(circuit.probe_end), whole(circuit.version),
    }, '|'))
  else
    redis.call('HDEL', root .. 'circuits', circuit.name)
  end
  redis.call('PUBLISH', root .. 'circuits', describe_circuit(circuit, now_ms()))
end

local function reply_circuit(circuit)
  local now = now_ms()
  return { whole(now), describe_circuit(circuit, now) }
end

-- A call that was not a probe has failed: name, threshold, cooldown.
register('circuit_fault', function(root, args)
  local circuit = read_circuit(root, args[1])
  if not circuit.open_until then
    circuit.faults = circuit.faults + 1
    if circuit.faults >= tonumber(args[2]) then circuit.open_until = now_ms() + tonumber(args[3]) end
    write_circuit(root, circuit)
  end
  return reply_circuit(circuit)
end)

-- A call that was not a probe has succeeded: name.
register('circuit_recover', function(root, args)
  local circuit = read_circuit(root, args[1])
  if not circuit.open_until and circuit.faults > 0 then
    circuit.faults = 0
    write_circuit(root, circuit)
  end
  return reply_circuit(circuit)
end, { 'allow-oom' })

-- Takes the place of the probe: name, id of the probe, lease. The last part of the reply is the id when the
-- place was free.
register('circuit_probe', function(root, args)
  local circuit = read_circuit(root, args[1])
  local now = now_ms()
  local is_free = circuit.probe == '' or circuit.probe_end <= now
  if not circuit.open_until or circuit.open_until > now or not is_free then
    return reply_circuit(circuit)
  end
  circuit.probe = args[2]
  circuit.probe_end = now + tonumber(args[3])
  write_circuit(root, circuit)
  local reply = reply_circuit(circuit)
  reply[#reply + 1] = args[2]
  return reply
end)

-- Keeps the place of a probe that is still running: name, id, lease.
register('circuit_renew', function(root, args)
  local circuit = read_circuit(root, args[1])
  if circuit.probe == args[2] then
    circuit.probe_end = now_ms() + tonumber(args[3])
    write_circuit(root, circuit)
  end
  return reply_circuit(circuit)
end)

-- Ends a probe: name, id, outcome, and the number that belongs to it: the faults of a closed circuit, the
-- cooldown of an open one. A probe that has lost its place changes nothing.
register('circuit_end', function(root, args)
  local circuit = read_circuit(root, args[1])
  if circuit.open_until and circuit.probe == args[2] then
    circuit.probe = ''
    if args[3] == 'closed' then
      circuit.open_until = nil
      circuit.faults = tonumber(args[4])
    elseif args[3] == 'open' then
      circuit.open_until = now_ms() + tonumber(args[4])
    end
    write_circuit(root, circuit)
  end
  return reply_circuit(circuit)
end, { 'allow-oom' })

-- Adds circuits that a process has opened while the server was away, as pairs of name and remaining time,
-- and returns all circuits. The later end counts. Forgets those that have not changed for a day.
register('circuit_sync', function(root, args)
  local now = now_ms()
  for at = 1, #args, 2 do
    local circuit = read_circuit(root, args[at])
    local open_until = now + tonumber(args[at + 1])
    -- Every process has a slightly different remainder of the same time.
    if not circuit.open_until or circuit.open_until + 1000 < open_until then
      circuit.open_until = open_until
      write_circuit(root, circuit)
    end
  end
  local reply = { whole(now) }
  for _, name in ipairs(redis.call('HKEYS', root .. 'circuits')) do
    local circuit = read_circuit(root, name)
    if circuit.version < (now - 86400000) * 1000 then
      redis.call('HDEL', root .. 'circuits', name)
    else
      reply[#reply + 1] = describe_circuit(circuit, now)
    end
  end
  return reply
end)

-- Parked credentials. The hash `parked` has a field for each credential, model and cause: refusals|end in
-- milliseconds of the server's time. The refusals in a row count on after the end, for a day at most.

local function read_parking(text)
  local refusals, parked_until = text:match('^(%d+)|(%d+)$')
  return tonumber(refusals), tonumber(parked_until)
end

local function describe_parking(field, text, now)
  local refusals, parked_until = read_parking(text)
  return whole(refusals) .. ' ' .. whole(math.max(0, parked_until - now)) .. ' ' .. field
end

-- Parks a credential: the field, the refusals in a row, and for how long. The later end counts, unless the two
-- are about the same.
register('park', function(root, args)
  local now = now_ms()
  local parked_until = now + tonumber(args[3])
  local known = redis.call('HGET', root .. 'parked', args[1])
  local _, known_until = read_parking(known or '0|0')
  if not known or known_until + 1000 < parked_until then
    local text = args[2] .. '|' .. whole(parked_until)
    redis.call('HSET', root .. 'parked', args[1], text)
    redis.call('PUBLISH', root .. 'parked', describe_parking(args[1], text, now))
  end
  return { whole(now) }
end)

-- Ends a parking: the field.
register('park_free', function(root, args)
  if redis.call('HDEL', root .. 'parked', args[1]) > 0 then
    redis.call('PUBLISH', root .. 'parked', 'free ' .. args[1])
  end
  return { whole(now_ms()) }
end, { 'allow-oom' })

-- Returns all parkings, and forgets those that are over.
register('park_list', function(root)
  local now = now_ms()
  local reply = { whole(now) }
  local parked = redis.call('HGETALL', root .. 'parked')
  for at = 1, #parked, 2 do
    local refusals, parked_until = read_parking(parked[at + 1])
    if parked_until + (refusals > 0 and 86400000 or 0) <= now then
      redis.call('HDEL', root .. 'parked', parked[at])
    else
      reply[#reply + 1] = describe_parking(parked[at], parked[at + 1], now)
    end
  end
  return reply
end)

-- A process has reloaded: forgets the refusals.
register('park_reload', function(root)
  local now = now_ms()
  local parked = redis.call('HGETALL', root .. 'parked')
  for at = 1, #parked, 2 do
    local refusals = read_parking(parked[at + 1])
    if refusals > 0 then redis.call('HDEL', root .. 'parked', parked[at]) end
  end
  redis.call('PUBLISH', root .. 'parked', 'reload ' .. whole(now))
  return { whole(now) }
end, { 'allow-oom' })
