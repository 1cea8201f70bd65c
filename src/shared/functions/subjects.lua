-- Subjects

-- What the functions of one command work on. States are read once and written once.
local function begin(root)
  local now = now_ms()
  return {
    root = root, now = now, minute = floor(now / 60000),
    states = {}, changed = {}, alerts = {}, shares = {},
  }
end

local function find_epoch(call)
  if not call.epoch then
    local id, began = (redis.call('GET', call.root .. 'epoch') or '|0'):match('^(.*)|(%d+)$')
    call.epoch, call.began = id, tonumber(began)
  end
  return call.epoch, call.began
end

local state_format = '{"init":%s,"period":"%s","since":%d,"resets":%s,'
  .. '"spent_usd":%d,"spent_nano":%d,"total_usd":%d,"total_nano":%d,'
  .. '"reserved_usd":%d,"reserved_nano":%d,"running":%d,"minute":%d,"rpm":%d,"tpm":%d,'
  .. '"cap_usd":%s,"cap_nano":%d,"passed":%d,"exhausted":%s,"admitted":%s,"past":%s}'

local unknown = '{"init":false,"period":"","since":0,"resets":false,'
  .. '"spent_usd":0,"spent_nano":0,"total_usd":0,"total_nano":0,"reserved_usd":0,"reserved_nano":0,'
  .. '"running":0,"minute":0,"rpm":0,"tpm":0,'
  .. '"cap_usd":false,"cap_nano":0,"passed":0,"exhausted":false,"admitted":false,"past":false}'

local function write_state(state)
  return string.format(
    state_format, tostring(state.init), state.period, state.since, optional(state.resets),
    state.spent_usd, state.spent_nano, state.total_usd, state.total_nano,
    state.reserved_usd, state.reserved_nano, state.running, state.minute, state.rpm, state.tpm,
    optional(state.cap_usd), state.cap_nano, state.passed, optional(state.exhausted),
    tostring(state.admitted), tostring(state.past or false)
  )
end

local function get(call, name)
  local state = call.states[name]
  if state then
    return state
  end
  state = cjson.decode(redis.call('GET', call.root .. name) or unknown)
  if state.minute ~= call.minute then
    state.minute, state.rpm, state.tpm = call.minute, 0, 0
  end
  call.states[name] = state
  return state
end

-- Gets a subject that the caller changes.
local function change(call, name)
  call.changed[name] = true
  return get(call, name)
end

-- How long subjects that are past are kept after their last change.
local past_ms = '86400000'

-- Writes what has changed.
local function save(call)
  for name in pairs(call.changed) do
    local key, state = call.root .. name, call.states[name]
    if state.past then
      redis.call('SET', key, write_state(state), 'PX', past_ms)
      redis.call('PEXPIRE', key .. ':by', past_ms)
    else
      redis.call('SET', key, write_state(state))
    end
  end
end

-- What a process has charged to a subject, as it has written it.
local function get_share(call, name, process)
  local id = name .. ' ' .. process
  local text = call.shares[id]
  if text == nil then
    text = redis.call('HGET', call.root .. name .. ':by', process)
    call.shares[id] = text
  end
  return text
end

-- Returns a subject with the share of a process and the alert that has fired.
local function describe(call, name, process)
  local state, alert = get(call, name), call.alerts[name]
  call.alerts[name] = nil
  return write_subject(state, get_share(call, name, process), alert)
end

local function start_term(state, since, resets)
  state.since, state.resets = since, resets
  state.spent_usd, state.spent_nano = 0, 0
  state.reserved_usd, state.reserved_nano = 0, 0
  state.passed, state.exhausted, state.admitted = 0, false, false
end

-- Starts a new term if the present one is over.
local function turn(call, name)
  local state = get(call, name)
  local at = floor(call.now / 1000)
  if not state.resets or at < state.resets then
    return
  end
  local since = math.max(start_of(state.period, at, 0), state.since + 1)
  start_term(change(call, name), since, start_of(state.period, at, 1))
end

-- Follows a term that began elsewhere: in the database, or by the clock of a process.
local function follow(state, since)
  if since <= state.since then
    return
  end
  start_term(state, since, state.period ~= '' and start_of(state.period, since, 1))
end

local function note_charge(call, name)
  local state = get(call, name)
  if not state.cap_usd then
    return
  end
  local percent = get_percent(state)
  if percent > state.passed then
    call.alerts[name] = whole(state.passed) .. '-' .. whole(percent)
    state.passed = percent
  end
end

-- Spend.

local function add_share(state, share)
  if share.since == state.since then
    state.spent_usd, state.spent_nano =
      add(state.spent_usd, state.spent_nano, share.usd, share.nano)
  end
  state.total_usd, state.total_nano =
    add(state.total_usd, state.total_nano, share.total_usd, share.total_nano)
end

local function subtract_share(state, share)
  if share.since == state.since then
    state.spent_usd, state.spent_nano =
      subtract(state.spent_usd, state.spent_nano, share.usd, share.nano)
  end
  state.total_usd, state.total_nano =
    subtract(state.total_usd, state.total_nano, share.total_usd, share.total_nano)
end

-- Replaces what a process has charged to a subject. `before` is what that is now, or false.
local function replace(call, name, process, before, share, text)
  if not before then
    redis.call('SADD', call.root .. 'processes', process)
    redis.call('SADD', call.root .. 'charges:' .. process, name)
  end
  redis.call('HSET', call.root .. name .. ':by', process, text)
  call.shares[name .. ' ' .. process] = text
  if not get(call, name).init then
    return
  end
  local state = change(call, name)
  follow(state, share.since)
  add_share(state, share)
  if before then
    subtract_share(state, before)
  end
  if share.since == state.since then
    note_charge(call, name)
  end
end

-- Replaces what a process has charged to a subject, unless a later state of it has arrived before.
local function charge(call, name, process, text)
  local before = get_share(call, name, process)
  if before == text then
    return
  end
  local share = read_share(cjson.decode(text))
  before = before and read_share(cjson.decode(before))
  if not before or before.sequence < share.sequence then
    replace(call, name, process, before, share, text)
  end
end
