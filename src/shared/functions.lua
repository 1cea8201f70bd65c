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

-- Circuits. The hash `circuits` has a field for each circuit that has counted a fault:
-- faults|open until|probe|end of the probe's place|version, in milliseconds of the server's time. Without
-- `open until` the circuit is closed. Each change is published in the form of the reply, and has a version
-- that is greater than that of the change before.

local function now_us()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- A circuit without a field is closed, which is news for who knows of an earlier state: hence the version.
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

-- Parked credentials. The hash `parked` has a field for each credential and model: status|end in
-- milliseconds of the server's time, without an end until the next reload of any process.

local function describe_parking(place, text, now)
  local status, parked_until = text:match('^(%d+)|(%d*)$')
  local wait = parked_until == '' and '-' or whole(tonumber(parked_until) - now)
  return status .. ' ' .. wait .. ' ' .. place
end

-- Parks a credential: its place, the status, and for how long, `-` for until the next reload. The later end
-- counts, unless the two are about the same.
register('park', function(root, args)
  local now = now_ms()
  local parked_until = tonumber(args[3]) and now + tonumber(args[3]) or math.huge
  local known = redis.call('HGET', root .. 'parked', args[1])
  local known_until = known and (tonumber(known:match('|(%d+)$')) or math.huge)
  if not known or known_until + 1000 < parked_until then
    local text = args[2] .. '|' .. (parked_until == math.huge and '' or whole(parked_until))
    redis.call('HSET', root .. 'parked', args[1], text)
    redis.call('PUBLISH', root .. 'parked', describe_parking(args[1], text, now))
  end
  return { whole(now) }
end)

-- Returns all parkings, and forgets those that are over.
register('park_list', function(root)
  local now = now_ms()
  local reply = { whole(now) }
  local parked = redis.call('HGETALL', root .. 'parked')
  for at = 1, #parked, 2 do
    local parked_until = tonumber(parked[at + 1]:match('|(%d+)$')) or math.huge
    if parked_until <= now then
      redis.call('HDEL', root .. 'parked', parked[at])
    else
      reply[#reply + 1] = describe_parking(parked[at], parked[at + 1], now)
    end
  end
  return reply
end)

-- A process has reloaded: ends the parkings that wait for it.
register('park_reload', function(root)
  local now = now_ms()
  local parked = redis.call('HGETALL', root .. 'parked')
  for at = 1, #parked, 2 do
    if parked[at + 1]:match('|$') then redis.call('HDEL', root .. 'parked', parked[at]) end
  end
  redis.call('PUBLISH', root .. 'parked', 'reload ' .. whole(now))
  return { whole(now) }
end, { 'allow-oom' })

-- Cached answers. The hash `answers` has a field for each: time of storage in milliseconds|sealed text. The
-- sorted set `answers:used` has the time of the last use, `answers:bytes` the sum of the sizes, and
-- `answers:generation` the time of the last removal of all, in microseconds. Each reply goes on with the
-- generation, the bytes and the number of the answers.

local answer_overhead = 1024

local function get_generation(root)
  local generation = redis.call('GET', root .. 'answers:generation')
  if not generation then
    generation = whole(now_us())
    redis.call('SET', root .. 'answers:generation', generation)
  end
  return generation
end

local function reply_answers(root, now)
  return {
    whole(now), get_generation(root), redis.call('GET', root .. 'answers:bytes') or '0',
    whole(redis.call('HLEN', root .. 'answers')),
  }
end

local function forget_answer(root, name)
  local size = redis.call('HSTRLEN', root .. 'answers', name)
  if size > 0 then
    redis.call('HDEL', root .. 'answers', name)
    redis.call('DECRBY', root .. 'answers:bytes', whole(size + answer_overhead))
  end
  redis.call('ZREM', root .. 'answers:used', name)
end

-- Finds the first of some answers: the maximum age, the names. The reply ends with the place of the name, the
-- age and the text.
register('answer_find', function(root, args)
  local now = now_ms()
  local found
  for at = 2, #args do
    local entry = redis.call('HGET', root .. 'answers', args[at])
    if entry then
      local bar = entry:find('|', 1, true)
      local age = now - tonumber(entry:sub(1, bar - 1))
      if age < tonumber(args[1]) then
        redis.call('ZADD', root .. 'answers:used', whole(now), args[at])
        found = { whole(at - 1), whole(age), entry:sub(bar + 1) }
        break
      end
      forget_answer(root, args[at])
    end
  end
  local reply = reply_answers(root, now)
  for _, part in ipairs(found or {}) do reply[#reply + 1] = part end
  return reply
end)

-- Stores an answer: its name, that of an answer which it replaces or an empty text, the generation that its
-- request has seen, for how long it may be found, the maximum of all bytes, the text. The reply ends with
-- the number of answers that were removed to make room.
register('answer_put', function(root, args)
  local now = now_ms()
  local name, replaced, generation, text = args[1], args[2], args[3], args[6]
  local ttl, max_bytes = tonumber(args[4]), tonumber(args[5])
  local entry = whole(now) .. '|' .. text
  local size = #entry + answer_overhead
  local evicted = 0
  if generation == get_generation(root) and size <= max_bytes then
    forget_answer(root, name)
    if replaced ~= '' then forget_answer(root, replaced) end
    local keys = { root .. 'answers', root .. 'answers:used', root .. 'answers:bytes' }
    -- What was not used for that long is also older.
    local old = redis.call('ZRANGEBYSCORE', keys[2], '-inf', whole(now - ttl), 'LIMIT', 0, 100)
    for _, each in ipairs(old) do forget_answer(root, each) end
    while tonumber(redis.call('GET', keys[3]) or '0') + size > max_bytes do
      local oldest = redis.call('ZRANGE', keys[2], 0, 0)[1]
      if not oldest then break end
      forget_answer(root, oldest)
      evicted = evicted + 1
    end
    redis.call('HSET', keys[1], name, entry)
    redis.call('ZADD', keys[2], whole(now), name)
    redis.call('INCRBY', keys[3], whole(size))
    for _, key in ipairs(keys) do redis.call('PEXPIRE', key, whole(ttl)) end
  end
  local reply = reply_answers(root, now)
  reply[#reply + 1] = whole(evicted)
  return reply
end)

-- Removes all answers. The reply ends with their number.
register('answer_clear', function(root)
  local now = now_ms()
  local removed = redis.call('HLEN', root .. 'answers')
  redis.call('UNLINK', root .. 'answers', root .. 'answers:used', root .. 'answers:bytes')
  local generation = whole(math.max(now_us(), tonumber(get_generation(root)) + 1))
  redis.call('SET', root .. 'answers:generation', generation)
  redis.call('PUBLISH', root .. 'answers', generation)
  local reply = reply_answers(root, now)
  reply[#reply + 1] = whole(removed)
  return reply
end)
