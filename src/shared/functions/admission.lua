-- Admission. A process asks for each subject of a request: `[name,rpm,tpm,parallel,usd,nano,usd,nano]`, the
-- limits, the cap, and the amount to reserve. What is not limited is false.

local checks = {
  function(state, asked)
    return not asked[2] or state.rpm < asked[2]
  end,
  function(state, asked, tokens)
    return not asked[3] or state.tpm + tokens <= asked[3]
  end,
  function(state, asked)
    return not asked[4] or state.running < asked[4]
  end,
  function(state, asked)
    local cap_usd, cap_nano = asked[5], asked[6]
    if not cap_usd then
      return true
    end
    local usd, nano =
      add(state.spent_usd, state.spent_nano, state.reserved_usd, state.reserved_nano)
    if not is_below(usd, nano, cap_usd, cap_nano) then
      return false
    end
    usd, nano = add(usd, nano, asked[7], asked[8])
    return not is_below(cap_usd, cap_nano, usd, nano)
  end,
}

-- Finds the first check that fails, and what was asked for. Each check asks the key, then its group.
local function find_refusal(call, subjects, tokens, last)
  for number = 1, last do
    for _, asked in ipairs(subjects) do
      if not checks[number](get(call, asked[1]), asked, tokens) then
        return number, asked
      end
    end
  end
end

-- True when a refusal may be due to a request that has ended. Its end was sent before this call, but over the
-- connection of another process, which the server may read later.
local function may_be_over(call, number, asked)
  local state = get(call, asked[1])
  if number == 1 or state.running == 0 then
    return false
  end
  if number < #checks then
    return true
  end
  -- What is spent remains.
  local usd, nano = add(state.spent_usd, state.spent_nano, asked[7], asked[8])
  return is_below(state.spent_usd, state.spent_nano, asked[5], asked[6])
    and not is_below(asked[5], asked[6], usd, nano)
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
  call.edges[name] = 'exhausted'
end

local function count(call, asked, tokens)
  local state = change(call, asked[1])
  -- An expired key may have got another end.
  if state.past then
    state.past = false
    redis.call('PERSIST', call.root .. asked[1] .. ':by')
  end
  local requests = asked[2] and 1 or 0
  state.rpm = state.rpm + requests
  if asked[3] then
    state.tpm = state.tpm + tokens
  end
  return state, requests
end

local function take(call, subjects, id, hold)
  for at, asked in ipairs(subjects) do
    local name, usd, nano = asked[1], asked[7], asked[8]
    local state, requests = count(call, asked, hold.tokens)
    state.running = state.running + 1
    state.reserved_usd, state.reserved_nano =
      add(state.reserved_usd, state.reserved_nano, usd, nano)
    -- A request that costs nothing is admitted by a spent budget too.
    if state.exhausted and asked[5] then
      state.admitted = true
    end
    hold.subjects[at] = { name, state.since, usd, nano, requests, asked[3] and 1 or 0 }
  end
  write_hold(call, id, hold)
end
