-- Keys and groups: loaded, read and changed.

-- Begins an epoch if there is none, and announces it. Args: process, a new id.
register_account('open', function(call, args)
  local text = args[2] .. '|' .. whole(call.now)
  if redis.call('SET', call.root .. 'epoch', text, 'NX') then
    redis.call('PUBLISH', call.root .. 'epoch', args[2])
  end
  call.epoch = nil
  return reply_with(call, {})
end)

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
