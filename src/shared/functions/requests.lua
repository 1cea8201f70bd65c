-- Requests: admitted, extended and ended; their holds, renewed and restored.

-- Returns the reply to a caller that must not go on: the server has no epoch, or the caller no longer waits; nil
-- otherwise.
local function find_obstacle(call, deadline)
  if find_epoch(call) == '' then
    return reply_with(call, { quote('empty') })
  end
  return call.now > deadline and reply_with(call, { quote('late') })
end

-- Admits a request with all its limits, or changes nothing. Args: process, deadline, lease, policy for lost
-- holds, mode (`admit`, `insist`, `hit`, `preview`), id, tokens, facts, the subjects.
-- Reply: status (`admitted`, `refused`, `late`, `empty`, `unseeded` with the wait and the names), the
-- subjects, the claimed holds. To `admit` the status may be `busy` with the claimed holds alone: the caller
-- must insist, because the requests that are in the way may be over.
register_account('admit', function(call, args)
  local process, deadline, lease, policy, mode, id, tokens, facts, subjects = unpack(args)
  local obstacle = find_obstacle(call, deadline)
  if obstacle then
    return obstacle
  end
  local names = {}
  for at, list in ipairs(subjects) do
    subjects[at] = read_asked(list)
    names[at] = subjects[at].name
  end
  local unseeded = find_unseeded(call, names)
  if unseeded then
    return unseeded
  end
  local claims = mode == 'preview' and {} or sweep(call, process, lease, policy)
  for _, name in ipairs(names) do
    turn(call, name)
  end
  local refused, asked = find_refusal(call, subjects, tokens, mode == 'hit' and 1 or #checks)
  if refused and mode == 'admit' and may_be_over(call, refused, asked) then
    table.insert(claims, 1, quote('busy'))
    return reply_with(call, claims)
  end
  if refused == #checks and mode ~= 'preview' then
    note_refusal(call, asked.name)
  end
  if not refused and (mode == 'admit' or mode == 'insist') then
    take(call, subjects, id, {
      owner = process, minute = call.minute, tokens = tokens, facts = facts, subjects = {},
    })
    start_lease(call, id, lease)
  elseif not refused and mode == 'hit' then
    for _, asked in ipairs(subjects) do
      count(call, asked, 0)
    end
  end
  local parts = { quote(refused and 'refused' or 'admitted') }
  for _, name in ipairs(names) do
    parts[#parts + 1] = describe(call, name, process)
  end
  for _, claim in ipairs(claims) do
    parts[#parts + 1] = claim
  end
  return reply_with(call, parts)
end)

-- Reserves more for a request that runs, or changes nothing. May be repeated. Args: process, deadline, mode (`extend`,
-- `insist`), id, facts, the subjects with the whole amount that is to be reserved of each. Reply: status (`reserved`,
-- `refused`, then the subjects; `busy`, `late`, `empty` and `unseeded` as of `admit`; `unknown` without such a hold;
-- `gone` when that was charged as lost).
register_account('extend', function(call, args)
  local process, deadline, mode, id, facts, subjects = unpack(args)
  local obstacle = find_obstacle(call, deadline)
  if obstacle then
    return obstacle
  end
  local hold = find_hold(call, id)
  if not hold then
    local is_charged = redis.call('EXISTS', call.root .. 'charged:' .. id) == 1
    return reply_with(call, { quote(is_charged and 'gone' or 'unknown') })
  end
  local names = {}
  for at, held in ipairs(hold.subjects) do
    names[at] = held.name
  end
  local unseeded = find_unseeded(call, names)
  if unseeded then
    return unseeded
  end
  for _, name in ipairs(names) do
    turn(call, name)
  end
  local more = find_more(call, hold, subjects)
  local refused = find_too_full(call, more)
  if refused and mode == 'extend' and may_be_over(call, #checks, refused) then
    return reply_with(call, { quote('busy') })
  end
  if not refused then
    extend(call, id, hold, more, facts)
  end
  local parts = { quote(refused and 'refused' or 'reserved') }
  for _, name in ipairs(names) do
    parts[#parts + 1] = describe(call, name, process)
  end
  return reply_with(call, parts)
end)

-- After this long a hold whose request has a row is removed even if its process may still run: one that is only slow
-- has still to report what the request cost, and ends the hold with that.
local max_slow_minutes = 15

-- Ends a hold. Returns `ended`, also when the process has charged it before, or `gone`.
local function end_hold(call, process, id, mode, used)
  local hold = find_hold(call, id)
  local charged = call.root .. 'charged:' .. id
  if hold and mode == 'recorded' then
    local closed = call.root .. 'closed:' .. id:match('^(.*)%-%d+$')
    local is_over = call.minute > hold.minute + max_slow_minutes
    if not is_over and redis.call('EXISTS', closed) == 0 then
      return 'gone'
    end
  end
  if hold then
    release(call, id, hold, mode, used)
    if mode == 'lost' then
      redis.call('SET', charged, process, 'PX', charged_ms)
    end
    return 'ended'
  end
  return mode == 'lost' and redis.call('GET', charged) == process and 'ended' or 'gone'
end

-- Ends holds and replaces what the process has charged. Both may be repeated. Args: process; a list of the
-- holds, each `[id,mode,used]`, the mode `settle`, `withdraw`, `lost` or `recorded`, the used tokens false when they are
-- not known; a list of the subjects, each `[name,share]`. Reply: the outcome of each hold, then the subjects
-- whose alert has fired, each `[name,subject]`.
register_account('settle', function(call, args)
  local process, ends, shares = unpack(args)
  local parts = {}
  for _, one in ipairs(ends) do
    parts[#parts + 1] = quote(end_hold(call, process, one[1], one[2], one[3]))
  end
  for _, one in ipairs(shares) do
    charge(call, one[1], process, one[2])
  end
  for _, one in ipairs(shares) do
    local name = one[1]
    if call.alerts[name] then
      parts[#parts + 1] = '[' .. quote(name) .. ',' .. describe(call, name, process) .. ']'
    end
  end
  return reply_with(call, parts)
end, when_full)

-- Renews the leases of a process, also of holds that another one has claimed but not yet charged. Args:
-- process, lease, policy for lost holds, a list of ids. Reply: the unknown ids, then the claimed holds.
register_account('renew', function(call, args)
  local process, lease, policy, ids = unpack(args)
  local parts = {}
  for _, id in ipairs(ids) do
    local hold = find_hold(call, id)
    if hold then
      if redis.call('ZREM', call.root .. 'lost', id) == 1 then
        add_running(call, hold, 1)
        hold.owner = process
        put_hold(call, id, hold)
      end
      start_lease(call, id, lease)
    elseif redis.call('EXISTS', call.root .. 'charged:' .. id) == 0 then
      parts[#parts + 1] = quote(id)
    end
  end
  for _, claim in ipairs(sweep(call, process, lease, policy)) do
    parts[#parts + 1] = claim
  end
  return reply_with(call, parts)
end, when_full)

-- Lists the holds of a process, among some of all. Args: process, the cursor of `HSCAN`. Reply: the next cursor,
-- the ids.
register_account('holds', function(call, args)
  local process, cursor = unpack(args)
  local next_cursor, found = unpack(
    redis.call('HSCAN', call.root .. 'holds', cursor, 'COUNT', whole(max_swept))
  )
  local parts = { quote(next_cursor) }
  for at = 1, #found, 2 do
    if found[at]:match('^(.*)%-%d+$') == process then
      parts[#parts + 1] = quote(found[at])
    end
  end
  return reply_with(call, parts)
end, when_full)

-- Writes holds that the server does not know. Args: process, lease, a list of `[id,record]`.
register_account('restore', function(call, args)
  local _, lease, holds = unpack(args)
  for _, one in ipairs(holds) do
    local id, record = one[1], one[2]
    if redis.call('HSETNX', call.root .. 'holds', id, record) == 1 then
      local hold = find_hold(call, id)
      start_lease(call, id, lease)
      add_running(call, hold, 1)
      for _, subject in ipairs(hold.subjects) do
        local state = change(call, subject.name)
        if not state.init or state.since == subject.since then
          state.reserved_usd, state.reserved_nano =
            add(state.reserved_usd, state.reserved_nano, subject.usd, subject.nano)
        end
      end
    end
  end
  return reply_with(call, {})
end, when_full)

-- Takes back a hit. Args: process, minute, a list of names.
register_account('unhit', function(call, args)
  local _, minute, names = unpack(args)
  if minute == call.minute then
    for _, name in ipairs(names) do
      local state = change(call, name)
      state.rpm = state.rpm - 1
    end
  end
  return reply_with(call, {})
end, when_full)
