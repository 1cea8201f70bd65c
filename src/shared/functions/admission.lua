-- Admission. A process asks something of each subject of a request: its limits and its cap, where it has them (else
-- false), and the amount to reserve.

local checks = {
  function(state, asked)
    return not asked.rpm or state.rpm < asked.rpm
  end,
  function(state, asked, tokens)
    return not asked.tpm or state.tpm + tokens <= asked.tpm
  end,
  function(state, asked)
    return not asked.parallel or state.running < asked.parallel
  end,
  function(state, asked)
    if not asked.cap_usd then
      return true
    end
    local usd, nano =
      add(state.spent_usd, state.spent_nano, state.reserved_usd, state.reserved_nano)
    if not is_below(usd, nano, asked.cap_usd, asked.cap_nano) then
      return false
    end
    usd, nano = add(usd, nano, asked.usd, asked.nano)
    return not is_below(asked.cap_usd, asked.cap_nano, usd, nano)
  end,
}

-- Finds the first check that fails, and what was asked for. Each check asks the key, then its group.
local function find_refusal(call, subjects, tokens, last)
  for number = 1, last do
    for _, asked in ipairs(subjects) do
      if not checks[number](get(call, asked.name), asked, tokens) then
        return number, asked
      end
    end
  end
end

-- True when a refusal may be due to a request that has ended. Its end was sent before this call, but over the
-- connection of another process, which the server may read later.
local function may_be_over(call, number, asked)
  local state = get(call, asked.name)
  if number == 1 or state.running == 0 then
    return false
  end
  if number < #checks then
    return true
  end
  -- What is spent remains.
  local usd, nano = add(state.spent_usd, state.spent_nano, asked.usd, asked.nano)
  return is_below(state.spent_usd, state.spent_nano, asked.cap_usd, asked.cap_nano)
    and not is_below(asked.cap_usd, asked.cap_nano, usd, nano)
end

local rearm_ms = 60000

-- The first refusal fires, and a later one after a request was admitted and a minute has passed.
local function note_refusal(call, name)
  local state = get(call, name)
  if state.exhausted then
    if not state.admitted or call.now - state.exhausted < rearm_ms then
      return
    end
  end
  state = change(call, name)
  state.exhausted, state.admitted = call.now, false
  call.alerts[name] = 'exhausted'
end

local function count(call, asked, tokens)
  local state = change(call, asked.name)
  -- An expired key may have got another end.
  if state.past then
    state.past = false
    redis.call('PERSIST', call.root .. asked.name .. ':by')
  end
  local requests = asked.rpm and 1 or 0
  state.rpm = state.rpm + requests
  if asked.tpm then
    state.tpm = state.tpm + tokens
  end
  return state, requests
end

local function take(call, subjects, id, hold)
  for at, asked in ipairs(subjects) do
    local state, requests = count(call, asked, hold.tokens)
    state.running = state.running + 1
    state.reserved_usd, state.reserved_nano =
      add(state.reserved_usd, state.reserved_nano, asked.usd, asked.nano)
    -- A request that costs nothing is admitted by a spent budget too.
    if state.exhausted and asked.cap_usd then
      state.admitted = true
    end
    hold.subjects[at] = {
      name = asked.name, since = state.since, usd = asked.usd, nano = asked.nano,
      requests = requests, tokens = asked.tpm and 1 or 0,
    }
  end
  put_hold(call, id, hold)
end

-- Returns what a hold has to reserve besides, of the subjects that reserve something for it: each with its place in
-- the hold. A term that is over has nothing reserved, and what was reserved by the same call before is not missing.
local function find_more(call, hold, subjects)
  local more = {}
  for at, list in ipairs(subjects) do
    local asked, held = read_asked(list), hold.subjects[at]
    local usd, nano = subtract(asked.usd, asked.nano, held.usd, held.nano)
    local is_reserved = asked.cap_usd and is_below(0, 0, held.usd, held.nano)
    if is_reserved and held.since == get(call, held.name).since and is_below(0, 0, usd, nano) then
      asked.usd, asked.nano, asked.place = usd, nano, at
      more[#more + 1] = asked
    end
  end
  return more
end

-- Finds what is asked of a budget that has no room for it.
local function find_too_full(call, more)
  for _, asked in ipairs(more) do
    if not checks[#checks](get(call, asked.name), asked) then
      return asked
    end
  end
end

local function extend(call, id, hold, more, facts)
  for _, asked in ipairs(more) do
    local state, held = change(call, asked.name), hold.subjects[asked.place]
    state.reserved_usd, state.reserved_nano =
      add(state.reserved_usd, state.reserved_nano, asked.usd, asked.nano)
    held.usd, held.nano = add(held.usd, held.nano, asked.usd, asked.nano)
  end
  hold.facts = facts
  put_hold(call, id, hold)
end
