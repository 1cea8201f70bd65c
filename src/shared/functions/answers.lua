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

-- Long texts are read in pieces, so that other calls get their turn in between.
local max_piece = 262144

-- Finds the first of some answers: the maximum age, the names. The reply ends with the place of the name, the
-- age, the length of the text and its first piece.
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
        found = { whole(at - 1), whole(age), whole(#entry - bar), entry:sub(bar + 1, bar + max_piece) }
        break
      end
      forget_answer(root, args[at])
    end
  end
  local reply = reply_answers(root, now)
  for _, part in ipairs(found or {}) do reply[#reply + 1] = part end
  return reply
end)

-- Reads another piece of an answer: the name, the number of characters before the piece. The reply ends with the
-- piece, which is of another text when the answer was replaced.
register('answer_read', function(root, args)
  local reply = reply_answers(root, now_ms())
  local entry = redis.call('HGET', root .. 'answers', args[1])
  if entry then
    local start = entry:find('|', 1, true) + tonumber(args[2])
    reply[#reply + 1] = entry:sub(start + 1, start + max_piece)
  end
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
    local keys = { root .. 'answers', root .. 'answers:used', root .. 'answers:bytes' }
    -- The server may have evicted one of the keys: they have an expiry.
    if redis.call('EXISTS', unpack(keys)) < 3 then redis.call('UNLINK', unpack(keys)) end
    forget_answer(root, name)
    if replaced ~= '' then forget_answer(root, replaced) end
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
