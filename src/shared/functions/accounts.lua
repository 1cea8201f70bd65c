-- Functions for accounts get one argument and reply with one text: lists in JSON. So several of them can run
-- as one command.

local accounts = {}

local function register_account(name, run, flags)
  accounts[name] = run
  register(name, function(root, args)
    local call = begin(root)
    local reply = run(call, cjson.decode(args[1]))
    save(call)
    return reply
  end, flags)
end

-- Runs several functions in order, each for itself. Gets a list of `[name,arguments]`, and returns their
-- replies, or the text of an error.
register('batch', function(root, args)
  local call = begin(root)
  local replies = {}
  for at, one in ipairs(cjson.decode(args[1])) do
    local is_done, reply = pcall(accounts[one[1]], call, one[2])
    replies[at] = is_done and reply
      or cjson.encode(type(reply) == 'table' and reply.err or tostring(reply))
  end
  save(call)
  return '[' .. table.concat(replies, ',') .. ']'
end)

-- Makes a reply of parts in JSON.
local function reply_with(call, parts)
  local head = '[' .. whole(call.now) .. ',' .. quote((find_epoch(call)))
  if #parts == 0 then
    return head .. ']'
  end
  return head .. ',' .. table.concat(parts, ',') .. ']'
end

-- For this long after the server was found empty, every process sends what it knows, and no subject is read
-- from the database.
local settling_ms = 500

-- For how long a charged hold is known: its process may only be slow.
local charged_ms = '3600000'

-- Begins an epoch if there is none, and announces it. Args: process, a new id.
register_account('open', function(call, args)
  local text = args[2] .. '|' .. whole(call.now)
  if redis.call('SET', call.root .. 'epoch', text, 'NX') then
    redis.call('PUBLISH', call.root .. 'epoch', args[2])
  end
  call.epoch = nil
  return reply_with(call, {})
end)

-- Returns a reply for the names that must be loaded from the database, after a wait; nil when all are known.
local function find_unseeded(call, names)
  local _, began = find_epoch(call)
  local parts = { quote('unseeded'), whole(math.max(0, began + settling_ms - call.now)) }
  for _, name in ipairs(names) do
    if not get(call, name).init then
      parts[#parts + 1] = quote(name)
    end
  end
  return #parts > 2 and reply_with(call, parts)
end

-- Admits a request with all its limits, or changes nothing. Args: process, deadline, lease, policy for lost
-- holds, mode (`admit`, `insist`, `hit`, `preview`), id, tokens, facts, the subjects.
-- Reply: status (`admitted`, `refused`, `late`, `empty`, `unseeded` with the wait and the names), the
-- subjects, the claimed holds. To `admit` the status may be `busy` with the claimed holds alone: the caller
-- must insist, because the requests that are in the way may be over.
register_account('admit', function(call, args)
  local process, deadline, lease, policy, mode, id, tokens, facts, subjects = unpack(args)
  if find_epoch(call) == '' then
    return reply_with(call, { quote('empty') })
  end
  if call.now > deadline then
    return reply_with(call, { quote('late') })
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
  if find_epoch(call) == '' then
    return reply_with(call, { quote('empty') })
  end
  if call.now > deadline then
    return reply_with(call, { quote('late') })
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

-- Loads a subject from the database. `shares` are those of the processes that have saved theirs.
local function seed(call, subject)
  local name, spent, total, cap = subject.name, subject.spent, subject.total, subject.cap
  local state = change(call, name)
  local key = call.root .. name .. ':by'
  for _, one in ipairs(subject.shares) do
    redis.call('HSETNX', key, one[1], one[2])
  end
  state.init, state.period, state.past = true, subject.period, subject.past
  state.since, state.resets = subject.since, subject.resets
  local by = {}
  for at, text in ipairs(redis.call('HVALS', key)) do
    by[at] = read_share(cjson.decode(text))
  end
  for _, share in ipairs(by) do
    if share.since > state.since then
      local usd, nano = state.reserved_usd, state.reserved_nano
      follow(state, share.since)
      state.reserved_usd, state.reserved_nano = usd, nano
    end
  end
  state.spent_usd, state.spent_nano = 0, 0
  if state.since == subject.since then
    state.spent_usd, state.spent_nano = spent[1], spent[2]
  end
  state.total_usd, state.total_nano = total[1], total[2]
  for _, share in ipairs(by) do
    add_share(state, share)
  end
  state.cap_usd, state.cap_nano = cap[1] or false, cap[2] or 0
  state.passed = state.cap_usd and get_percent(state) or 0
  turn(call, name)
end

-- Loads subjects from the database, unless they are known. Args: process; the epoch in which they were read; a
-- list of subjects.
register_account('seed', function(call, args)
  local epoch, began = find_epoch(call)
  if epoch ~= '' and epoch == args[2] and call.now >= began + settling_ms then
    for _, list in ipairs(args[3]) do
      local subject = read_seed(list)
      if not get(call, subject.name).init then
        seed(call, subject)
      end
    end
  end
  return reply_with(call, {})
end)

local function quote_all(texts)
  local parts = {}
  for at, text in ipairs(texts) do
    parts[at] = quote(text)
  end
  return parts
end

-- Lists the processes that have charged something.
register_account('processes', function(call)
  return reply_with(call, quote_all(redis.call('SMEMBERS', call.root .. 'processes')))
end, when_full)

-- Lists the subjects that a process has charged. Args: process, the other process.
register_account('charges', function(call, args)
  return reply_with(call, quote_all(redis.call('SMEMBERS', call.root .. 'charges:' .. args[2])))
end, when_full)

-- The final share of a process of which the database knows nothing.
local no_share = '[9007199254740991,0,0,0,0,0]'

-- Replaces what a process that has ended has charged by what the database knows of it, for good. May be
-- repeated. Args: process, the epoch in which that was read, the ended process, a list of `[name,share]` with
-- final shares, false for none. Reply: as of `read`, or the status `empty` in another epoch.
register_account('close', function(call, args)
  local process, epoch, ended, shares = unpack(args)
  if epoch == '' or find_epoch(call) ~= epoch then
    return reply_with(call, { quote('empty') })
  end
  local saved = {}
  for _, one in ipairs(shares) do
    if one[2] then
      saved[#saved + 1] = one[1]
    end
  end
  local unseeded = find_unseeded(call, saved)
  if unseeded then
    return unseeded
  end
  redis.call('SET', call.root .. 'closed:' .. ended, '1', 'PX', charged_ms)
  local is_forgotten = redis.call('EXISTS', call.root .. 'forgotten:' .. ended) == 1
  local parts = { quote('known') }
  for at, one in ipairs(shares) do
    local name, text = one[1], one[2]
    local before = get_share(call, name, ended)
    if not is_forgotten and (before or text) then
      text = text or no_share
      before = before and read_share(cjson.decode(before))
      replace(call, name, ended, before, read_share(cjson.decode(text)), text)
    end
    parts[at + 1] = describe(call, name, process)
  end
  return reply_with(call, parts)
end, when_full)

local forgotten_ms = '2592000000'

-- Forgets which part of the spend was that of a process whose charges were reconciled. The spend remains. Args:
-- process, the epoch in which that was done, the ended process, a list of names.
register_account('forget', function(call, args)
  local _, epoch, ended, names = unpack(args)
  if find_epoch(call) == epoch then
    redis.call('SET', call.root .. 'forgotten:' .. ended, '1', 'PX', forgotten_ms)
    for _, name in ipairs(names) do
      redis.call('HDEL', call.root .. name .. ':by', ended)
      call.shares[name .. ' ' .. ended] = nil
    end
    redis.call('DEL', call.root .. 'charges:' .. ended)
    redis.call('SREM', call.root .. 'processes', ended)
  end
  return reply_with(call, {})
end, when_full)

-- Follows a change of a subject. Args: process, name, period, since, resets, cap. A cap that is raised above
-- the spend arms what has fired.
register_account('configure', function(call, args)
  local _, name, period, since, resets, cap = unpack(args)
  if get(call, name).init then
    turn(call, name)
    local state = change(call, name)
    if period ~= state.period then
      state.period = period
      follow(state, since)
      state.resets = resets
    end
    local before_usd, before_nano = state.cap_usd, state.cap_nano
    state.cap_usd, state.cap_nano = cap[1] or false, cap[2] or 0
    if not state.cap_usd then
      state.passed, state.exhausted, state.admitted = 0, false, false
    elseif before_usd and is_below(before_usd, before_nano, state.cap_usd, state.cap_nano) then
      state.passed = math.min(state.passed, get_percent(state))
      if is_below(state.spent_usd, state.spent_nano, state.cap_usd, state.cap_nano) then
        state.exhausted, state.admitted = false, false
      end
    end
  end
  return reply_with(call, {})
end, when_full)

-- Lets subjects go that are past: deleted or expired. Args: process, a list of names.
register_account('expire', function(call, args)
  for _, name in ipairs(args[2]) do
    if get(call, name).init then
      change(call, name).past = true
    else
      redis.call('PEXPIRE', call.root .. name, past_ms)
      redis.call('PEXPIRE', call.root .. name .. ':by', past_ms)
    end
  end
  return reply_with(call, {})
end, when_full)

-- Reads subjects. Args: process, a list of names. Reply: as of `admit`, with the status `known` or `unseeded`.
register_account('read', function(call, args)
  local process, names = unpack(args)
  local unseeded = find_unseeded(call, names)
  if unseeded then
    return unseeded
  end
  local parts = { quote('known') }
  for at, name in ipairs(names) do
    turn(call, name)
    parts[at + 1] = describe(call, name, process)
  end
  return reply_with(call, parts)
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
