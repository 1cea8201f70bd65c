-- Holds. A record is a line with what the functions read, and the facts of the request, which only its process or
-- one that charges it reads.

local function find_hold(call, id)
  local text = redis.call('HGET', call.root .. 'holds', id)
  if not text then
    return nil
  end
  local at = text:find('\n', 1, true)
  local hold = read_hold(cjson.decode(text:sub(1, at - 1)))
  for place, subject in ipairs(hold.subjects) do
    hold.subjects[place] = read_held(subject)
  end
  hold.facts = text:sub(at + 1)
  return hold
end

local function put_hold(call, id, hold)
  local text = write_hold(hold) .. '\n' .. hold.facts
  redis.call('HSET', call.root .. 'holds', id, text)
  return text
end

local function start_lease(call, id, lease)
  redis.call('ZADD', call.root .. 'leases', whole(call.now + lease), id)
end

local function add_running(call, hold, number)
  for _, subject in ipairs(hold.subjects) do
    local state = change(call, subject.name)
    state.running = state.running + number
  end
end

-- Removes a hold. `settle` replaces the debit of tokens by the used ones, if these are known, and `withdraw`
-- takes back all counts; both if their minute is not over.
local function release(call, id, hold, mode, used)
  redis.call('HDEL', call.root .. 'holds', id)
  if redis.call('ZREM', call.root .. 'leases', id) == 1 then
    add_running(call, hold, -1)
  else
    redis.call('ZREM', call.root .. 'lost', id)
  end
  for _, subject in ipairs(hold.subjects) do
    local state = change(call, subject.name)
    if state.since == subject.since then
      state.reserved_usd, state.reserved_nano =
        subtract(state.reserved_usd, state.reserved_nano, subject.usd, subject.nano)
    end
    if hold.minute == call.minute then
      if mode == 'withdraw' then
        state.rpm = state.rpm - subject.requests
        state.tpm = state.tpm - subject.tokens * hold.tokens
      elseif mode == 'settle' and used then
        state.tpm = state.tpm + subject.tokens * (used - hold.tokens)
      end
    end
  end
end

-- The maximum of ended leases that one command handles.
local max_swept = 200

-- Ends the holds whose lease is over, and the claims on them. The caller claims those to be charged, which
-- stay reserved but no longer run. Returns each as `[id,record]`.
local function sweep(call, process, lease, policy)
  local claims = {}
  if call.is_swept then
    return claims
  end
  call.is_swept = true
  local now = whole(call.now)
  for _, set in ipairs({ 'leases', 'lost' }) do
    local ended = redis.call(
      'ZRANGEBYSCORE', call.root .. set, '-inf', now, 'LIMIT', '0', whole(max_swept)
    )
    for _, id in ipairs(ended) do
      local hold = find_hold(call, id)
      if hold and policy == 'release' then
        release(call, id, hold)
      elseif hold then
        if set == 'leases' then
          redis.call('ZREM', call.root .. 'leases', id)
          add_running(call, hold, -1)
        end
        hold.owner = process
        redis.call('ZADD', call.root .. 'lost', whole(call.now + lease), id)
        claims[#claims + 1] = cjson.encode({ id, put_hold(call, id, hold) })
      else
        redis.call('ZREM', call.root .. set, id)
      end
    end
  end
  return claims
end
