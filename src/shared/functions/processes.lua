-- Processes: what they have charged, and what is settled once they have ended.

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
