-- The functions that the gateways with one prefix run on their Redis or Valkey server.
--
-- The loader puts two lines in front of this text: the header of the library, and `library`, its name,
-- which contains a hash of the text. So the functions of different releases have different names.
--
-- Every function gets the root of all keys, `{prefix}:`, as its only key; the braces put all keys into one
-- slot of a cluster. Arguments and replies are lists of texts. Each reply begins with the time of the
-- server in milliseconds; those about admission go on with the epoch, which is empty when the server has lost
-- its data.
--
-- The keys below the root, besides those of circuits and parked credentials:
--   epoch              the id of this life of the data, and when it began
--   key:ID, group:ID   a hash for each subject: its spend, reservations and counts
--   key:ID:by          a hash: what each process has charged, as `sequence|since|amount|total`
--   holds              a hash of the admitted requests that have not ended, by id
--   leases             the ids of those whose process is alive, by the end of the lease
--   lost               the ids of those whose process is not, by the end of the claim of another process
--   charged:ID         the process that has charged a lost hold, for an hour
--
-- Amounts are `USD:NANO`, whole dollars (rounded down) and billionths. Both are exact as numbers, which
-- nano-dollars alone are only up to nine million dollars. Numbers are written by `%.0f`, because tostring
-- keeps 14 digits.

-- The libraries of Lua exist only while a function runs.
local function floor(number)
  return math.floor(number)
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
end

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

-- Functions that make room run even when the server is full.
local when_full = { 'allow-oom' }

-- Proves that the server can be written to.
register('beat', function(root)
  redis.call('SET', root .. 'beat', '1', 'PX', '60000')
  return { whole(now_ms()) }
end)

-- Admission

-- For so long after the server was found empty, every process sends what it knows, and no subject is read
-- from the database.
local settling_ms = 500

-- The maximum of ended leases that one call handles.
local max_swept = 200

local charged_ms = '3600000'

local function split(text)
  local parts = {}
  for part in (text .. '|'):gmatch('([^|]*)|') do
    parts[#parts + 1] = part
  end
  return parts
end

-- Amounts

local zero = { usd = 0, nano = 0, text = '0:0' }

local function parse(text)
  local colon = text:find(':', 1, true)
  return { usd = tonumber(text:sub(1, colon - 1)), nano = tonumber(text:sub(colon + 1)), text = text }
end

local function format(amount)
  if not amount.text then
    amount.text = string.format('%.0f:%.0f', amount.usd, amount.nano)
  end
  return amount.text
end

local function plus(a, b)
  local nano = a.nano + b.nano
  local carry = floor(nano / 1e9)
  return { usd = a.usd + b.usd + carry, nano = nano - carry * 1e9 }
end

local function minus(a, b)
  local nano = a.nano - b.nano
  local carry = floor(nano / 1e9)
  return { usd = a.usd - b.usd + carry, nano = nano - carry * 1e9 }
end

local function times(amount, factor)
  local nano = amount.nano * factor
  local carry = floor(nano / 1e9)
  return { usd = amount.usd * factor + carry, nano = nano - carry * 1e9 }
end

local function is_below(a, b)
  return a.usd < b.usd or (a.usd == b.usd and a.nano < b.nano)
end

-- The spend in whole percent of a cap, rounded down, 0 to 100.
local function percent_of(spent, cap)
  if not is_below(zero, spent) then
    return 0
  end
  if not is_below(spent, cap) then
    return 100
  end
  local hundredfold = times(spent, 100)
  local percent = floor((hundredfold.usd + hundredfold.nano / 1e9) / (cap.usd + cap.nano / 1e9))
  while percent > 0 and is_below(hundredfold, times(cap, percent)) do
    percent = percent - 1
  end
  while percent < 99 and not is_below(hundredfold, times(cap, percent + 1)) do
    percent = percent + 1
  end
  return percent
end

-- Calendar periods in UTC. Times are unix seconds.

local day = 86400

-- https://howardhinnant.github.io/date_algorithms.html
local function month_of(days)
  local shifted = days + 719468
  local era = floor(shifted / 146097)
  local of_era = shifted - era * 146097
  local year = floor(
    (of_era - floor(of_era / 1460) + floor(of_era / 36524) - floor(of_era / 146096)) / 365
  )
  local of_year = of_era - (365 * year + floor(year / 4) - floor(year / 100))
  local from_march = floor((5 * of_year + 2) / 153)
  return (year + era * 400) * 12 + from_march + 2
end

-- Months are counted from January of the year 0.
local function first_day_of(month)
  local from_march = month - 2
  local year = floor(from_march / 12)
  local era = floor(year / 400)
  local of_era = year - era * 400
  local of_year = floor((153 * (from_march - year * 12) + 2) / 5)
  return era * 146097 + of_era * 365 + floor(of_era / 4) - floor(of_era / 100) + of_year - 719468
end

local function start_of(period, at, later)
  local days = floor(at / day)
  if period == 'day' then
    return (days + later) * day
  elseif period == 'week' then
    -- The epoch was a Thursday, three days after a Monday.
    return (days - (days + 3) % 7 + 7 * later) * day
  end
  return first_day_of(month_of(days) + later) * day
end

-- Subjects

local fields = {
  'init', 'period', 'since', 'resets', 'spent', 'total', 'reserved', 'running',
  'minute', 'rpm', 'tpm', 'cap', 'passed', 'exhausted', 'admitted',
}

local function amount_or_zero(text)
  return text and parse(text) or zero
end

-- What one call works on. States are read once and written once.
local function begin(root, process)
  local now = now_ms()
  return {
    root = root, process = process, now = now, minute = floor(now / 60000),
    states = {}, names = {},
  }
end

local function find_epoch(call)
  local epoch = redis.call('GET', call.root .. 'epoch')
  if not epoch then
    return '', 0
  end
  local id, began = unpack(split(epoch))
  return id, tonumber(began)
end

local function get(call, name)
  local state = call.states[name]
  if state then
    return state
  end
  local read = redis.call('HMGET', call.root .. name, unpack(fields))
  state = {
    name = name,
    read = read,
    init = read[1] == '1',
    period = read[2] or '',
    since = tonumber(read[3] or '0'),
    resets = tonumber(read[4] or ''),
    spent = amount_or_zero(read[5]),
    total = amount_or_zero(read[6]),
    reserved = amount_or_zero(read[7]),
    running = tonumber(read[8] or '0'),
    minute = tonumber(read[9] or '-1'),
    rpm = tonumber(read[10] or '0'),
    tpm = tonumber(read[11] or '0'),
    cap = read[12] and read[12] ~= '' and parse(read[12]),
    passed = tonumber(read[13] or '0'),
    exhausted = tonumber(read[14] or ''),
    admitted = read[15] == '1',
    edge = '',
  }
  if state.minute ~= call.minute then
    state.minute, state.rpm, state.tpm = call.minute, 0, 0
  end
  call.states[name] = state
  call.names[#call.names + 1] = name
  return state
end

-- Returns the values of a state, in the order of `fields`.
local function write_values(state)
  return {
    state.init and '1' or '',
    state.period,
    whole(state.since),
    state.resets and whole(state.resets) or '',
    format(state.spent),
    format(state.total),
    format(state.reserved),
    whole(state.running),
    whole(state.minute),
    whole(state.rpm),
    whole(state.tpm),
    state.cap and format(state.cap) or '',
    whole(state.passed),
    state.exhausted and whole(state.exhausted) or '',
    state.admitted and '1' or '0',
  }
end

-- Writes what has changed.
local function save(call)
  for _, name in ipairs(call.names) do
    local state = call.states[name]
    local changed = {}
    for at, value in ipairs(write_values(state)) do
      if value ~= (state.read[at] or '') then
        changed[#changed + 1] = fields[at]
        changed[#changed + 1] = value
      end
    end
    if #changed > 0 then
      redis.call('HSET', call.root .. name, unpack(changed))
    end
  end
end

-- Appends a subject to a reply, in the order that `readSubject` expects.
local function append(reply, call, name)
  local state = get(call, name)
  for _, value in ipairs({
    state.period,
    whole(state.since),
    state.resets and whole(state.resets) or '',
    format(state.spent),
    format(state.total),
    format(state.reserved),
    whole(state.running),
    whole(state.rpm),
    whole(state.tpm),
    redis.call('HGET', call.root .. name .. ':by', call.process) or '',
    state.edge,
  }) do
    reply[#reply + 1] = value
  end
end

local function start_term(state, since, resets)
  state.since, state.resets = since, resets
  state.spent, state.reserved = zero, zero
  state.passed, state.exhausted, state.admitted = 0, nil, false
end

-- Starts a new term if the present one is over.
local function turn(call, state)
  local at = floor(call.now / 1000)
  if not state.resets or at < state.resets then
    return
  end
  local since = math.max(start_of(state.period, at, 0), state.since + 1)
  start_term(state, since, start_of(state.period, at, 1))
end

-- Follows a term that began elsewhere: in the database, or by the clock of a process.
local function follow(state, since)
  if since <= state.since then
    return
  end
  start_term(state, since, state.period ~= '' and start_of(state.period, since, 1) or nil)
end

local function note_charge(state)
  if not state.cap then
    return
  end
  local percent = percent_of(state.spent, state.cap)
  if percent > state.passed then
    state.edge = whole(state.passed) .. '-' .. whole(percent)
    state.passed = percent
  end
end

-- Spend

local function parse_share(text)
  local parts = split(text)
  return {
    sequence = tonumber(parts[1]), since = tonumber(parts[2]),
    amount = parse(parts[3]), total = parse(parts[4]),
  }
end

local function amount_in(share, since)
  return share and share.since == since and share.amount or zero
end

-- Replaces what a process has charged to a subject, unless a later state of it has arrived before.
local function charge(call, name, text)
  local key = call.root .. name .. ':by'
  local before = redis.call('HGET', key, call.process)
  local share = parse_share(text)
  before = before and parse_share(before)
  local state = get(call, name)
  if before and before.sequence >= share.sequence then
    return
  end
  redis.call('HSET', key, call.process, text)
  if not state.init then
    return
  end
  follow(state, share.since)
  state.total = minus(plus(state.total, share.total), before and before.total or zero)
  state.spent = minus(
    plus(state.spent, amount_in(share, state.since)), amount_in(before, state.since)
  )
  if share.since == state.since then
    note_charge(state)
  end
end

-- Holds. A record is `owner|minute|tokens|facts`, and for each subject `name|since|amount|counts`, where
-- `counts` has a digit for the request and one for the tokens: whether they were counted.

local function for_subjects(record, visit)
  for at = 5, #record, 4 do
    visit(record[at], tonumber(record[at + 1]), parse(record[at + 2]), record[at + 3])
  end
end

local function add_running(call, record, difference)
  for_subjects(record, function(name)
    local state = get(call, name)
    state.running = state.running + difference
  end)
end

-- Removes a hold. `adjust` corrects the counts of its minute, if that is not over.
local function release(call, id, record, adjust)
  redis.call('HDEL', call.root .. 'holds', id)
  redis.call('ZREM', call.root .. 'lost', id)
  if redis.call('ZREM', call.root .. 'leases', id) == 1 then
    add_running(call, record, -1)
  end
  for_subjects(record, function(name, since, amount, counts)
    local state = get(call, name)
    if state.since == since then
      state.reserved = minus(state.reserved, amount)
    end
    if tonumber(record[2]) == call.minute then
      adjust(state, counts)
    end
  end)
end

local function find_hold(call, id)
  local text = redis.call('HGET', call.root .. 'holds', id)
  return text and split(text)
end

local function put_hold(call, id, record, lease)
  redis.call('HSET', call.root .. 'holds', id, table.concat(record, '|'))
  redis.call('ZADD', call.root .. 'leases', whole(call.now + lease), id)
end

local function keep() end

-- Ends the holds whose lease is over, and the claims on them. The caller claims those to be charged, which
-- stay reserved but no longer run. Returns their ids and records.
local function sweep(call, lease, policy)
  local claimed = {}
  for _, set in ipairs({ 'leases', 'lost' }) do
    local ended = redis.call(
      'ZRANGEBYSCORE', call.root .. set, '-inf', whole(call.now), 'LIMIT', '0', whole(max_swept)
    )
    for _, id in ipairs(ended) do
      local record = find_hold(call, id)
      if record and policy == 'release' then
        release(call, id, record, keep)
      elseif record then
        if set == 'leases' then
          redis.call('ZREM', call.root .. 'leases', id)
          add_running(call, record, -1)
        end
        record[1] = call.process
        local text = table.concat(record, '|')
        redis.call('HSET', call.root .. 'holds', id, text)
        redis.call('ZADD', call.root .. 'lost', whole(call.now + lease), id)
        claimed[#claimed + 1] = id
        claimed[#claimed + 1] = text
      else
        redis.call('ZREM', call.root .. set, id)
      end
    end
  end
  return claimed
end

-- Reads the subjects of a request: six arguments each, from `at`.
local function read_asked(call, args, at)
  local asked = {}
  for first = at, #args, 6 do
    asked[#asked + 1] = {
      state = get(call, args[first]),
      rpm = tonumber(args[first + 1]),
      tpm = tonumber(args[first + 2]),
      parallel = tonumber(args[first + 3]),
      cap = args[first + 4] ~= '' and parse(args[first + 4]),
      amount = parse(args[first + 5]),
    }
  end
  return asked
end

local function has_headroom(subject)
  local used = plus(subject.state.spent, subject.state.reserved)
  return is_below(used, subject.cap) and not is_below(subject.cap, plus(used, subject.amount))
end

local checks = {
  function(subject)
    return not subject.rpm or subject.state.rpm < subject.rpm
  end,
  function(subject, tokens)
    return not subject.tpm or subject.state.tpm + tokens <= subject.tpm
  end,
  function(subject)
    return not subject.parallel or subject.state.running < subject.parallel
  end,
  function(subject)
    return not subject.cap or has_headroom(subject)
  end,
}

-- Finds the first check that fails, and its subject. Each check asks the key, then its group.
local function find_refusal(asked, tokens, last)
  for number = 1, last do
    for _, subject in ipairs(asked) do
      if not checks[number](subject, tokens) then
        return number, subject.state
      end
    end
  end
end

local rearm_ms = 60000

-- The first refusal fires, and a later one after a request was admitted and a minute has passed.
local function note_refusal(call, state)
  if state.exhausted then
    if not state.admitted or call.now - state.exhausted < rearm_ms then
      return
    end
  end
  state.exhausted, state.admitted = call.now, false
  state.edge = 'exhausted'
end

local function take(call, asked, hold)
  local record = { call.process, whole(call.minute), whole(hold.tokens), hold.facts }
  for _, subject in ipairs(asked) do
    local state = subject.state
    if subject.rpm then
      state.rpm = state.rpm + 1
    end
    if subject.tpm then
      state.tpm = state.tpm + hold.tokens
    end
    if state.exhausted then
      state.admitted = true
    end
    state.running = state.running + 1
    state.reserved = plus(state.reserved, subject.amount)
    record[#record + 1] = state.name
    record[#record + 1] = whole(state.since)
    record[#record + 1] = format(subject.amount)
    record[#record + 1] = (subject.rpm and '1' or '0') .. (subject.tpm and '1' or '0')
  end
  put_hold(call, hold.id, record, hold.lease)
end

-- Begins an epoch if there is none, and announces it. Args: process, a new id.
register('open', function(root, args)
  local call = begin(root, args[1])
  local text = args[2] .. '|' .. whole(call.now)
  if redis.call('SET', root .. 'epoch', text, 'NX') then
    redis.call('PUBLISH', root .. 'epoch', args[2])
  end
  local epoch = find_epoch(call)
  return { whole(call.now), epoch }
end)

-- Admits a request with all its limits, or changes nothing. Args: process, deadline, lease, policy for lost
-- holds, mode (`admit`, `hit`, `preview`), id, tokens, facts; for each subject its name, the limits of
-- requests, tokens and requests at once, the cap, and the amount to reserve.
-- Reply: status (`admitted`, `refused`, `late`, `empty`, `unseeded` with the wait and the names), the
-- subjects, the claimed holds.
register('admit', function(root, args)
  local process, deadline, lease, policy, mode, id, tokens, facts = unpack(args)
  local call = begin(root, process)
  local epoch, began = find_epoch(call)
  local reply = { whole(call.now), epoch }
  if epoch == '' then
    reply[3] = 'empty'
    return reply
  end
  if call.now > tonumber(deadline) then
    reply[3] = 'late'
    return reply
  end
  local asked = read_asked(call, args, 9)
  for _, subject in ipairs(asked) do
    if not subject.state.init then
      reply[3], reply[4] = 'unseeded', whole(math.max(0, began + settling_ms - call.now))
      reply[#reply + 1] = subject.state.name
    end
  end
  if reply[3] then
    return reply
  end

  local claimed = mode == 'preview' and {} or sweep(call, tonumber(lease), policy)
  for _, subject in ipairs(asked) do
    turn(call, subject.state)
  end
  tokens = tonumber(tokens)
  local refused, state = find_refusal(asked, tokens, mode == 'hit' and 1 or #checks)
  reply[3] = refused and 'refused' or 'admitted'
  if refused == #checks and mode ~= 'preview' then
    note_refusal(call, state)
  end
  if not refused and mode == 'admit' then
    take(call, asked, { id = id, tokens = tokens, facts = facts, lease = tonumber(lease) })
  elseif not refused and mode == 'hit' then
    for _, subject in ipairs(asked) do
      subject.state.rpm = subject.state.rpm + (subject.rpm and 1 or 0)
    end
  end
  if mode ~= 'preview' then
    save(call)
  end
  for _, subject in ipairs(asked) do
    append(reply, call, subject.state.name)
  end
  for _, text in ipairs(claimed) do
    reply[#reply + 1] = text
  end
  return reply
end)

local adjustments = {
  settle = function(used, record)
    if used == '' then
      return keep
    end
    return function(state, counts)
      if counts:sub(2, 2) == '1' then
        state.tpm = state.tpm + tonumber(used) - tonumber(record[3])
      end
    end
  end,
  withdraw = function(_, record)
    return function(state, counts)
      state.rpm = state.rpm - tonumber(counts:sub(1, 1))
      state.tpm = state.tpm - tonumber(counts:sub(2, 2)) * tonumber(record[3])
    end
  end,
  lost = function()
    return keep
  end,
}

-- Ends a hold. Returns `ended`, or why there is none: `gone`, or `charged` by another process.
local function end_hold(call, id, mode, used)
  local record = find_hold(call, id)
  local charged = call.root .. 'charged:' .. id
  if record then
    release(call, id, record, adjustments[mode](used, record))
    if mode == 'lost' then
      redis.call('SET', charged, call.process, 'PX', charged_ms)
    end
    return 'ended'
  end
  local by = redis.call('GET', charged)
  if not by then
    return 'gone'
  end
  return by == call.process and mode == 'lost' and 'ended' or 'charged'
end

-- Ends holds and replaces what the process has charged. Both may be repeated. Args: process, the number of
-- holds, for each its id, mode (`settle`, `withdraw`, `lost`) and the used tokens; for each subject its
-- name and `sequence|since|amount|total`. Reply: the outcome of each hold, then the subjects.
register('settle', function(root, args)
  local call = begin(root, args[1])
  local reply = { whole(call.now), (find_epoch(call)) }
  local after = 3 + 3 * tonumber(args[2])
  for at = 3, after - 1, 3 do
    reply[#reply + 1] = end_hold(call, args[at], args[at + 1], args[at + 2])
  end
  for at = after, #args, 2 do
    charge(call, args[at], args[at + 1])
  end
  save(call)
  for at = after, #args, 2 do
    append(reply, call, args[at])
  end
  return reply
end, when_full)

-- Renews the leases of a process, also of holds that another one has claimed but not yet charged. Args:
-- process, lease, policy for lost holds, ids. Reply: the number of unknown ids, these, the claimed holds.
register('renew', function(root, args)
  local call = begin(root, args[1])
  local lease, policy = tonumber(args[2]), args[3]
  local unknown = {}
  for at = 4, #args do
    local id = args[at]
    local record = find_hold(call, id)
    if record then
      if redis.call('ZREM', root .. 'lost', id) == 1 then
        add_running(call, record, 1)
        record[1] = call.process
      end
      put_hold(call, id, record, lease)
    elseif redis.call('EXISTS', root .. 'charged:' .. id) == 0 then
      unknown[#unknown + 1] = id
    end
  end
  local claimed = sweep(call, lease, policy)
  save(call)
  local reply = { whole(call.now), (find_epoch(call)), whole(#unknown) }
  for _, list in ipairs({ unknown, claimed }) do
    for _, text in ipairs(list) do
      reply[#reply + 1] = text
    end
  end
  return reply
end, when_full)

-- Writes holds that the server does not know. Args: process, lease, for each its id and record.
register('restore', function(root, args)
  local call = begin(root, args[1])
  for at = 3, #args, 2 do
    local id = args[at]
    if redis.call('HEXISTS', root .. 'holds', id) == 0 then
      local record = split(args[at + 1])
      put_hold(call, id, record, tonumber(args[2]))
      add_running(call, record, 1)
      for_subjects(record, function(name, since, amount)
        local state = get(call, name)
        if not state.init or state.since == since then
          state.reserved = plus(state.reserved, amount)
        end
      end)
    end
  end
  save(call)
  return { whole(call.now), (find_epoch(call)) }
end, when_full)

-- Brings subjects from the database, unless they are known. Args: process; for each subject the number of
-- its shares, its name, period, since, resets, spend of the term and total apart from the shares, cap; for
-- each share the process and `0|since|amount|total`.
register('seed', function(root, args)
  local call = begin(root, args[1])
  local epoch, began = find_epoch(call)
  local at = 2
  while epoch ~= '' and call.now >= began + settling_ms and at <= #args do
    local shares, name = tonumber(args[at]), args[at + 1]
    local state = get(call, name)
    if not state.init then
      local key = root .. name .. ':by'
      for share = 0, shares - 1 do
        redis.call('HSETNX', key, args[at + 8 + 2 * share], args[at + 9 + 2 * share])
      end
      state.init, state.period = true, args[at + 2]
      state.since, state.resets = tonumber(args[at + 3]), tonumber(args[at + 4])
      local by = {}
      for _, text in ipairs(redis.call('HVALS', key)) do
        by[#by + 1] = parse_share(text)
      end
      local base = state.since
      for _, share in ipairs(by) do
        if share.since > state.since then
          local reserved = state.reserved
          follow(state, share.since)
          state.reserved = reserved
        end
      end
      state.spent = base == state.since and parse(args[at + 5]) or zero
      state.total = parse(args[at + 6])
      for _, share in ipairs(by) do
        state.spent = plus(state.spent, amount_in(share, state.since))
        state.total = plus(state.total, share.total)
      end
      state.cap = args[at + 7] ~= '' and parse(args[at + 7])
      state.passed = state.cap and percent_of(state.spent, state.cap) or 0
      turn(call, state)
    end
    at = at + 8 + 2 * shares
  end
  save(call)
  return { whole(call.now), epoch }
end)

-- Follows a change of a subject. Args: process, name, period, since, resets, cap. A cap that is raised above
-- the spend arms what has fired.
register('configure', function(root, args)
  local call = begin(root, args[1])
  local _, name, period, since, resets, cap = unpack(args)
  local state = get(call, name)
  if state.init then
    turn(call, state)
    if period ~= state.period then
      state.period = period
      follow(state, tonumber(since))
      state.resets = tonumber(resets)
    end
    local before = state.cap
    state.cap = cap ~= '' and parse(cap)
    if not state.cap then
      state.passed, state.exhausted, state.admitted = 0, nil, false
    elseif before and is_below(before, state.cap) then
      state.passed = math.min(state.passed, percent_of(state.spent, state.cap))
      if is_below(state.spent, state.cap) then
        state.exhausted, state.admitted = nil, false
      end
    end
    save(call)
  end
  return { whole(call.now), (find_epoch(call)) }
end, when_full)

-- Reads subjects. Args: process, names. Reply: as of `admit`, with the status `known` or `unseeded`.
register('read', function(root, args)
  local call = begin(root, args[1])
  local epoch, began = find_epoch(call)
  local reply = { whole(call.now), epoch }
  for at = 2, #args do
    if not get(call, args[at]).init then
      reply[3], reply[4] = 'unseeded', whole(math.max(0, began + settling_ms - call.now))
      reply[#reply + 1] = args[at]
    end
  end
  if reply[3] then
    return reply
  end
  reply[3] = 'known'
  for at = 2, #args do
    turn(call, get(call, args[at]))
    append(reply, call, args[at])
  end
  return reply
end, { 'no-writes' })

-- Takes back a hit. Args: process, minute, names.
register('unhit', function(root, args)
  local call = begin(root, args[1])
  if tonumber(args[2]) == call.minute then
    for at = 3, #args do
      local state = get(call, args[at])
      state.rpm = state.rpm - 1
    end
    save(call)
  end
  return { whole(call.now), (find_epoch(call)) }
end, when_full)

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
