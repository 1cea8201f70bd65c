-- The functions that the gateways with one prefix run on their Redis or Valkey server.
--
-- The loader puts two lines in front of this text: the header of the library, and `library`, its name,
-- which contains a hash of the text. So the functions of different releases have different names.
--
-- Every function gets the root of all keys, `{prefix}:`, as its only key; the braces put all keys into one
-- slot of a cluster. Arguments and replies are lists of texts; those of the functions for accounts are lists in
-- JSON. Each reply begins with the time of the server in milliseconds; those about accounts go on with the
-- epoch, which is empty when the server has lost its data.
--
-- The keys below the root, besides those of circuits and parked credentials:
--   epoch              the id of this life of the data, and when it began
--   key:ID, group:ID   each subject in JSON: its spend, reservations and counts; past ones for a day
--   key:ID:by          a hash: what each process has charged
--   holds              a hash of the admitted requests that have not ended, by id
--   leases             the ids of those whose process is alive, by the end of the lease
--   lost               the ids of those whose process is not, by the end of the claim of another process
--   charged:ID         the process that has charged a lost hold, for an hour
--   processes          the processes that have charged something
--   charges:PROCESS    the subjects that it has charged
--   closed:PROCESS     marks one that has ended, and whose charges are those of the database, for an hour
--   forgotten:PROCESS  marks one that has ended, and whose charges belong to no process any more, for a month
--
-- Amounts are two numbers: whole dollars, rounded down, and billionths. Both are exact, which nano-dollars
-- alone are only up to nine million dollars. Numbers are written by `%d`, because tostring and cjson keep 14
-- digits, and because it takes a quarter of their time.

-- The libraries of Lua exist only while a function runs.
local function floor(number)
  return math.floor(number)
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
end

local function whole(number)
  return string.format('%d', number)
end

-- Writes a text that needs no escapes as JSON.
local function quote(text)
  return '"' .. text .. '"'
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

-- Claims: see src/shared/claims.ts. A question and its answers are here for a few seconds.

local question_ms = '10000'

-- Asks for the gateways of a claim: the question, which may be asked again. The reply goes on with the answers so far.
register('claim_ask', function(root, args)
  redis.call('SET', root .. 'claims:asked:' .. args[1], '1', 'PX', question_ms)
  redis.call('PUBLISH', root .. 'claims', args[1])
  local reply = { whole(now_ms()) }
  for _, id in ipairs(redis.call('SMEMBERS', root .. 'claims:answers:' .. args[1])) do
    reply[#reply + 1] = id
  end
  return reply
end)

-- Answers a question, unless it was asked in another database of the server: the question, the id of the claim.
register('claim_answer', function(root, args)
  if redis.call('EXISTS', root .. 'claims:asked:' .. args[1]) == 1 then
    local answers = root .. 'claims:answers:' .. args[1]
    redis.call('SADD', answers, args[2])
    redis.call('PEXPIRE', answers, question_ms)
  end
  return { whole(now_ms()) }
end)

-- Accounts

-- For so long after the server was found empty, every process sends what it knows, and no subject is read
-- from the database.
local settling_ms = 500

-- The maximum of ended leases that one command handles.
local max_swept = 200

local charged_ms = '3600000'

-- Amounts: whole dollars (rounded down) and billionths, as two numbers.

local function add(usd, nano, more_usd, more_nano)
  local nanos = nano + more_nano
  local rest = nanos % 1e9
  return usd + more_usd + (nanos - rest) / 1e9, rest
end

local function subtract(usd, nano, less_usd, less_nano)
  return add(usd, nano, -less_usd, -less_nano)
end

local function multiply(usd, nano, factor)
  local nanos = nano * factor
  local rest = nanos % 1e9
  return usd * factor + (nanos - rest) / 1e9, rest
end

local function is_below(usd, nano, other_usd, other_nano)
  return usd < other_usd or (usd == other_usd and nano < other_nano)
end

-- The spend in whole percent of the cap, rounded down, 0 to 100.
local function get_percent(state)
  local usd, nano, cap_usd, cap_nano =
    state.spent_usd, state.spent_nano, state.cap_usd, state.cap_nano
  if not is_below(0, 0, usd, nano) then
    return 0
  end
  if not is_below(usd, nano, cap_usd, cap_nano) then
    return 100
  end
  local hundred_usd, hundred_nano = multiply(usd, nano, 100)
  local function is_over(percent)
    return is_below(hundred_usd, hundred_nano, multiply(cap_usd, cap_nano, percent))
  end
  local percent = floor((hundred_usd + hundred_nano / 1e9) / (cap_usd + cap_nano / 1e9))
  while percent > 0 and is_over(percent) do
    percent = percent - 1
  end
  while percent < 99 and not is_over(percent + 1) do
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

-- What the functions of one command work on. States are read once and written once.
local function begin(root)
  local now = now_ms()
  return {
    root = root, now = now, minute = floor(now / 60000),
    states = {}, changed = {}, edges = {}, shares = {},
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

-- Writes a number that may be false.
local function optional(number)
  return number and whole(number) or 'false'
end

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

-- Subjects that are past are kept for so long after their last change.
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

-- Returns a subject in the order that `readSubject` expects, and the alert that has fired.
local function describe(call, name, process)
  local state, edge = get(call, name), call.edges[name]
  call.edges[name] = nil
  return string.format(
    '["%s",%d,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%s,%s]',
    state.period, state.since, optional(state.resets), state.spent_usd, state.spent_nano,
    state.total_usd, state.total_nano, state.reserved_usd, state.reserved_nano,
    state.running, state.rpm, state.tpm, get_share(call, name, process) or 'false',
    edge and quote(edge) or 'false'
  )
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
    call.edges[name] = whole(state.passed) .. '-' .. whole(percent)
    state.passed = percent
  end
end

-- Spend. A share is `[sequence,since,usd,nano,usd,nano]`: what was charged to the term that began then, and in
-- total.

local function add_share(state, share)
  if share[2] == state.since then
    state.spent_usd, state.spent_nano =
      add(state.spent_usd, state.spent_nano, share[3], share[4])
  end
  state.total_usd, state.total_nano = add(state.total_usd, state.total_nano, share[5], share[6])
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
  follow(state, share[2])
  add_share(state, share)
  if before then
    add_share(state, { 0, before[2], -before[3], -before[4], -before[5], -before[6] })
  end
  if share[2] == state.since then
    note_charge(call, name)
  end
end

-- Replaces what a process has charged to a subject, unless a later state of it has arrived before.
local function charge(call, name, process, text)
  local before = get_share(call, name, process)
  if before == text then
    return
  end
  local share = cjson.decode(text)
  before = before and cjson.decode(before)
  if not before or before[1] < share[1] then
    replace(call, name, process, before, share, text)
  end
end

-- Holds. A record is a line `[owner,minute,tokens,subjects]`, and the facts of the request, which only its
-- process or one that charges it reads. Each subject is `[name,since,usd,nano,requests,tokens]`, the last two
-- 1 or 0: whether they were counted.

local function find_hold(call, id)
  local text = redis.call('HGET', call.root .. 'holds', id)
  if not text then
    return nil
  end
  local at = text:find('\n', 1, true)
  local owner, minute, tokens, subjects = unpack(cjson.decode(text:sub(1, at - 1)))
  return {
    owner = owner, minute = minute, tokens = tokens, subjects = subjects, facts = text:sub(at + 1),
  }
end

local function write_hold(call, id, hold)
  local subjects = {}
  for at, subject in ipairs(hold.subjects) do
    subjects[at] = string.format('["%s",%d,%d,%d,%d,%d]', unpack(subject))
  end
  local text = string.format(
    '["%s",%d,%d,[%s]]\n', hold.owner, hold.minute, hold.tokens, table.concat(subjects, ',')
  ) .. hold.facts
  redis.call('HSET', call.root .. 'holds', id, text)
  return text
end

local function lend(call, id, lease)
  redis.call('ZADD', call.root .. 'leases', whole(call.now + lease), id)
end

local function add_running(call, hold, number)
  for _, subject in ipairs(hold.subjects) do
    local state = change(call, subject[1])
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
    local name, since, usd, nano, requests, tokens = unpack(subject)
    local state = change(call, name)
    if state.since == since then
      state.reserved_usd, state.reserved_nano =
        subtract(state.reserved_usd, state.reserved_nano, usd, nano)
    end
    if hold.minute == call.minute then
      if mode == 'withdraw' then
        state.rpm = state.rpm - requests
        state.tpm = state.tpm - tokens * hold.tokens
      elseif mode == 'settle' and used then
        state.tpm = state.tpm + tokens * (used - hold.tokens)
      end
    end
  end
end

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
        claims[#claims + 1] = cjson.encode({ id, write_hold(call, id, hold) })
      else
        redis.call('ZREM', call.root .. set, id)
      end
    end
  end
  return claims
end

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
    if state.exhausted then
      state.admitted = true
    end
    hold.subjects[at] = { name, state.since, usd, nano, requests, asked[3] and 1 or 0 }
  end
  write_hold(call, id, hold)
end

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

-- Begins an epoch if there is none, and announces it. Args: process, a new id.
register_account('open', function(call, args)
  local text = args[2] .. '|' .. whole(call.now)
  if redis.call('SET', call.root .. 'epoch', text, 'NX') then
    redis.call('PUBLISH', call.root .. 'epoch', args[2])
  end
  call.epoch = nil
  return reply_with(call, {})
end)

-- Returns a reply for the names that must be brought from the database, after a wait; nil when all are known.
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
  for at, asked in ipairs(subjects) do
    names[at] = asked[1]
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
    note_refusal(call, asked[1])
  end
  if not refused and (mode == 'admit' or mode == 'insist') then
    take(call, subjects, id, {
      owner = process, minute = call.minute, tokens = tokens, facts = facts, subjects = {},
    })
    lend(call, id, lease)
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

-- So long after its admission, the hold of a request that has a row goes although nothing says that its process
-- has ended. One that is only slow has still to report what the request cost, and ends the hold with that.
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
    if call.edges[name] then
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
        write_hold(call, id, hold)
      end
      lend(call, id, lease)
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
      lend(call, id, lease)
      add_running(call, hold, 1)
      for _, subject in ipairs(hold.subjects) do
        local state = change(call, subject[1])
        if not state.init or state.since == subject[2] then
          state.reserved_usd, state.reserved_nano =
            add(state.reserved_usd, state.reserved_nano, subject[3], subject[4])
        end
      end
    end
  end
  return reply_with(call, {})
end, when_full)

-- Brings a subject from the database. `shares` are those of the processes that have saved theirs.
local function seed(call, subject)
  local name, period, since, resets, spent, total, cap, shares, past = unpack(subject)
  local state = change(call, name)
  local key = call.root .. name .. ':by'
  for _, one in ipairs(shares) do
    redis.call('HSETNX', key, one[1], one[2])
  end
  state.init, state.period, state.past = true, period, past
  state.since, state.resets = since, resets
  local by = {}
  for at, text in ipairs(redis.call('HVALS', key)) do
    by[at] = cjson.decode(text)
  end
  for _, share in ipairs(by) do
    if share[2] > state.since then
      local usd, nano = state.reserved_usd, state.reserved_nano
      follow(state, share[2])
      state.reserved_usd, state.reserved_nano = usd, nano
    end
  end
  state.spent_usd, state.spent_nano = 0, 0
  if state.since == since then
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

-- Brings subjects from the database, unless they are known. Args: process; the epoch in which they were read; a
-- list of `[name,period,since,resets,spent,total,cap,shares,past]`: spend of the term and total apart from the
-- shares, each `[usd,nano]` like the cap, which is empty for none; each share a process and
-- `[0,since,usd,nano,usd,nano]`; whether the subject is past.
register_account('seed', function(call, args)
  local epoch, began = find_epoch(call)
  if epoch ~= '' and epoch == args[2] and call.now >= began + settling_ms then
    for _, subject in ipairs(args[3]) do
      if not get(call, subject[1]).init then
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
      replace(call, name, ended, before and cjson.decode(before), cjson.decode(text), text)
    end
    parts[at + 1] = describe(call, name, process)
  end
  return reply_with(call, parts)
end, when_full)

local forgotten_ms = '2592000000'

-- Forgets which part of the spend was that of a process whose books are closed. The spend remains. Args:
-- process, the epoch in which they were closed, the ended process, a list of names.
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

-- Parked credentials. The hash `parked` has a field for each credential, model and cause: refusals|end in
-- milliseconds of the server's time. The refusals in a row count on after the end, for a day at most.

local function read_parking(text)
  local refusals, parked_until = text:match('^(%d+)|(%d+)$')
  return tonumber(refusals), tonumber(parked_until)
end

local function describe_parking(field, text, now)
  local refusals, parked_until = read_parking(text)
  return whole(refusals) .. ' ' .. whole(math.max(0, parked_until - now)) .. ' ' .. field
end

-- Parks a credential: the field, the refusals in a row, and for how long. The later end counts, unless the two
-- are about the same.
register('park', function(root, args)
  local now = now_ms()
  local parked_until = now + tonumber(args[3])
  local known = redis.call('HGET', root .. 'parked', args[1])
  local _, known_until = read_parking(known or '0|0')
  if not known or known_until + 1000 < parked_until then
    local text = args[2] .. '|' .. whole(parked_until)
    redis.call('HSET', root .. 'parked', args[1], text)
    redis.call('PUBLISH', root .. 'parked', describe_parking(args[1], text, now))
  end
  return { whole(now) }
end)

-- Ends a parking: the field.
register('park_free', function(root, args)
  if redis.call('HDEL', root .. 'parked', args[1]) > 0 then
    redis.call('PUBLISH', root .. 'parked', 'free ' .. args[1])
  end
  return { whole(now_ms()) }
end, { 'allow-oom' })

-- Returns all parkings, and forgets those that are over.
register('park_list', function(root)
  local now = now_ms()
  local reply = { whole(now) }
  local parked = redis.call('HGETALL', root .. 'parked')
  for at = 1, #parked, 2 do
    local refusals, parked_until = read_parking(parked[at + 1])
    if parked_until + (refusals > 0 and 86400000 or 0) <= now then
      redis.call('HDEL', root .. 'parked', parked[at])
    else
      reply[#reply + 1] = describe_parking(parked[at], parked[at + 1], now)
    end
  end
  return reply
end)

-- A process has reloaded: forgets the refusals.
register('park_reload', function(root)
  local now = now_ms()
  local parked = redis.call('HGETALL', root .. 'parked')
  for at = 1, #parked, 2 do
    local refusals = read_parking(parked[at + 1])
    if refusals > 0 then redis.call('HDEL', root .. 'parked', parked[at]) end
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
