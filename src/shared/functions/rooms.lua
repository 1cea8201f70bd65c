-- Rooms: the places of calls at once to providers and models, and the queues for them. See src/rooms/shared-rooms.ts.
--
-- `room:NAME` has the places, by the end of their lease; `room:NAME:waiting` the tickets that count for its queue.
-- Requests wait in the queue of the first room of their link: `queue:NAME:PRIORITY` has the accounts, by their turns, and
-- `queue:NAME:PRIORITY ACCOUNT` the tickets of an account, by their arrival. `tickets` has the record of each ticket in
-- JSON, `tickets:leases` the ends of their leases, and `rooms:count` numbers turns and arrivals.
--
-- An option is one link that a ticket waits for: its number, and a list of rooms, each `[name, max, queue max, queue
-- time]`. A ticket has the rooms of each option in `options`, and its number at the same place of `numbers`.

-- A place that its owner has been offered, and has not confirmed, is free again after this time.
local offer_ms = 2000

-- A ticket whose process has ended leaves the queue after this time.
local ticket_ms = 3000

-- Keys that nothing uses any longer go by themselves.
local room_key_ms = '86400000'

local function room_key(call, name)
  return call.root .. 'room:' .. name
end

local function queue_key(call, name, priority)
  return call.root .. 'queue:' .. name .. ':' .. priority
end

local function next_count(call)
  return redis.call('INCR', call.root .. 'rooms:count')
end

-- Ends the places whose lease is over. Returns whether there were any.
local function sweep_rooms(call, rooms)
  local swept = 0
  for _, room in ipairs(rooms) do
    swept = swept + redis.call('ZREMRANGEBYSCORE', room_key(call, room[1]), '-inf', whole(call.now))
  end
  return swept > 0
end

local function count_free(call, room)
  return room[2] - redis.call('ZCARD', room_key(call, room[1]))
end

local function has_room(call, rooms)
  for _, room in ipairs(rooms) do
    if count_free(call, room) <= 0 then
      return false
    end
  end
  return true
end

local function put_place(call, id, rooms, lease)
  for _, room in ipairs(rooms) do
    local key = room_key(call, room[1])
    redis.call('ZADD', key, whole(call.now + lease), id)
    redis.call('PEXPIRE', key, room_key_ms)
  end
end

local function read_ticket(call, id)
  local text = redis.call('HGET', call.root .. 'tickets', id)
  return text and cjson.decode(text)
end

-- Takes an option out of its queue. The turn of the account ends with its last ticket.
local function leave_queue(call, id, ticket, option)
  local head = option[1][1]
  local accounts = queue_key(call, head, ticket.priority)
  local key = accounts .. ' ' .. ticket.account
  redis.call('ZREM', key, id)
  if redis.call('EXISTS', key) == 0 then
    redis.call('ZREM', accounts, ticket.account)
  end
end

local function forget_ticket(call, id, ticket)
  for _, option in ipairs(ticket.options) do
    leave_queue(call, id, ticket, option)
    for _, room in ipairs(option) do
      redis.call('ZREM', room_key(call, room[1]) .. ':waiting', id)
    end
  end
  redis.call('HDEL', call.root .. 'tickets', id)
  redis.call('ZREM', call.root .. 'tickets:leases', id)
end

-- Finds the first ticket of an account for which there is room. Returns it with its id and the place of the option, or
-- nothing but whether the room of the queue is full.
local function find_next(call, head, key)
  -- Nearly always the first one can go, or none.
  for _, last in ipairs({ 0, 199 }) do
    for _, id in ipairs(redis.call('ZRANGE', key, 0, last)) do
      local ticket = read_ticket(call, id)
      for at, option in ipairs(ticket and ticket.options or {}) do
        if option[1][1] == head then
          if count_free(call, option[1]) <= 0 then
            return nil, true
          end
          if has_room(call, option) then
            return { id = id, ticket = ticket, at = at }
          end
        end
      end
    end
  end
end

-- Offers places to those that wait in the queue of a room, as long as there is one for any of them. The owner of the
-- ticket learns of it by a publication: the ticket, the number of the option.
local function offer_places(call, head)
  for priority = 1, 3 do
    local accounts = queue_key(call, head, priority)
    local found
    repeat
      found = nil
      for _, account in ipairs(redis.call('ZRANGE', accounts, 0, -1)) do
        local is_full
        found, is_full = find_next(call, head, accounts .. ' ' .. account)
        if is_full then
          return
        end
        if found then
          forget_ticket(call, found.id, found.ticket)
          if redis.call('ZSCORE', accounts, account) then
            redis.call('ZADD', accounts, next_count(call), account)
          end
          put_place(call, found.id, found.ticket.options[found.at], offer_ms)
          local number = whole(found.ticket.numbers[found.at])
          redis.call('PUBLISH', call.root .. 'rooms', found.id .. ' ' .. number)
          break
        end
      end
    until not found
  end
end

-- Forgets the tickets of processes that have ended.
local function sweep_tickets(call)
  local leases = call.root .. 'tickets:leases'
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', whole(call.now), 'LIMIT', 0, 200)) do
    local ticket = read_ticket(call, id)
    if ticket then
      forget_ticket(call, id, ticket)
    else
      redis.call('ZREM', leases, id)
    end
  end
end

local function sweep_and_offer(call, rooms)
  if sweep_rooms(call, rooms) then
    offer_places(call, rooms[1][1])
  end
end

-- Takes up to as many places as there are ids. Args: the ids, the rooms, the lease. Reply: how many were taken.
register_account('room_take', function(call, args)
  local ids, rooms, lease = unpack(args)
  sweep_and_offer(call, rooms)
  local count = #ids
  for _, room in ipairs(rooms) do
    count = math.min(count, math.max(0, count_free(call, room)))
  end
  for at = 1, count do
    put_place(call, ids[at], rooms, lease)
  end
  return reply_with(call, { whole(count) })
end)

-- Takes the first place that is free, or waits for one. Args: the id, the account, the priority from 1, the lease of a
-- place, the options. A ticket that is known keeps its arrival. Reply: `taken` and the number of the option, `refused`,
-- or `waiting` and a pair for each option that has a queue: its number, and for how long it may wait.
register_account('room_wait', function(call, args)
  local id, account, priority, lease, options = unpack(args)
  sweep_tickets(call)
  local known = read_ticket(call, id)
  if known then
    forget_ticket(call, id, known)
  end
  local ticket = { account = account, priority = priority, options = {}, numbers = {} }
  ticket.arrival = known and known.arrival or next_count(call)
  for _, option in ipairs(options) do
    local number, rooms = unpack(option)
    sweep_and_offer(call, rooms)
    -- Offered already, or free.
    if redis.call('ZSCORE', room_key(call, rooms[1][1]), id) or has_room(call, rooms) then
      put_place(call, id, rooms, lease)
      return reply_with(call, { quote('taken'), whole(number) })
    end
  end
  local waits = {}
  for _, option in ipairs(options) do
    local number, rooms = unpack(option)
    local time
    local counted = {}
    for _, room in ipairs(rooms) do
      if count_free(call, room) <= 0 then
        local waiting = redis.call('ZCARD', room_key(call, room[1]) .. ':waiting')
        local longest = waiting < room[3] and room[4] or 0
        -- One that waits already, before a reload, stays.
        if known then longest = math.max(1, room[4]) end
        time = math.min(time or longest, longest)
        counted[#counted + 1] = room[1]
      end
    end
    if time > 0 then
      for _, name in ipairs(counted) do
        redis.call('ZADD', room_key(call, name) .. ':waiting', ticket.arrival, id)
      end
      ticket.options[#ticket.options + 1] = rooms
      ticket.numbers[#ticket.numbers + 1] = number
      waits[#waits + 1] = '[' .. whole(number) .. ',' .. whole(time) .. ']'
    end
  end
  if #waits == 0 then
    return reply_with(call, { quote('refused') })
  end
  for _, rooms in ipairs(ticket.options) do
    local accounts = queue_key(call, rooms[1][1], priority)
    redis.call('ZADD', accounts, 'NX', next_count(call), account)
    redis.call('ZADD', accounts .. ' ' .. account, ticket.arrival, id)
  end
  redis.call('HSET', call.root .. 'tickets', id, cjson.encode(ticket))
  redis.call('ZADD', call.root .. 'tickets:leases', whole(call.now + ticket_ms), id)
  return reply_with(call, { quote('waiting'), '[' .. table.concat(waits, ',') .. ']' })
end)

-- Takes an option of a ticket out of its queue, because it has waited for as long as it may. Args: the id, the number of
-- the option.
register_account('room_give_up', function(call, args)
  local id, number = unpack(args)
  local ticket = read_ticket(call, id)
  if ticket then
    local options, numbers, kept = {}, {}, {}
    for at, option in ipairs(ticket.options) do
      if ticket.numbers[at] == number then
        leave_queue(call, id, ticket, option)
      else
        options[#options + 1] = option
        numbers[#numbers + 1] = ticket.numbers[at]
        for _, room in ipairs(option) do kept[room[1]] = true end
      end
    end
    for _, option in ipairs(ticket.options) do
      for _, room in ipairs(option) do
        if not kept[room[1]] then
          redis.call('ZREM', room_key(call, room[1]) .. ':waiting', id)
        end
      end
    end
    ticket.options, ticket.numbers = options, numbers
    if #options == 0 then
      forget_ticket(call, id, ticket)
    else
      redis.call('HSET', call.root .. 'tickets', id, cjson.encode(ticket))
    end
  end
  return reply_with(call, {})
end, when_full)

-- Keeps a place that was offered. Args: the id, the rooms, the lease. Reply: 1, or 0 when it was too late.
register_account('room_confirm', function(call, args)
  local id, rooms, lease = unpack(args)
  sweep_and_offer(call, rooms)
  for _, room in ipairs(rooms) do
    if not redis.call('ZSCORE', room_key(call, room[1]), id) then
      return reply_with(call, { '0' })
    end
  end
  put_place(call, id, rooms, lease)
  return reply_with(call, { '1' })
end, when_full)

-- Gives places back, and forgets tickets. Args: a list of pairs: the id, the names of the rooms.
register_account('room_leave', function(call, args)
  for _, pair in ipairs(args) do
    local id, names = unpack(pair)
    local ticket = read_ticket(call, id)
    if ticket then
      forget_ticket(call, id, ticket)
    end
    for _, name in ipairs(names) do
      redis.call('ZREM', room_key(call, name), id)
    end
  end
  for _, pair in ipairs(args) do
    for _, name in ipairs(pair[2]) do
      offer_places(call, name)
    end
  end
  return reply_with(call, {})
end, when_full)

-- Keeps places and tickets. Places that the server has lost are written again. Args: the lease, the places as pairs of
-- id and rooms, the tickets as pairs of id and options. Reply: a pair for each ticket that does not wait any longer: its
-- id, and the number of the option whose place it was offered, or 0 when the server has lost it.
register_account('room_renew', function(call, args)
  local lease, places, tickets = unpack(args)
  for _, pair in ipairs(places) do
    put_place(call, pair[1], pair[2], lease)
  end
  sweep_tickets(call)
  local parts, seen = {}, {}
  for _, pair in ipairs(tickets) do
    local id, options = unpack(pair)
    for _, option in ipairs(options) do
      local rooms = option[2]
      local name = rooms[#rooms][1]
      if not seen[name] then
        seen[name] = true
        sweep_rooms(call, rooms)
        -- Also after a reload, which may have moved those that wait to another queue.
        offer_places(call, rooms[1][1])
      end
    end
    if redis.call('HEXISTS', call.root .. 'tickets', id) == 1 then
      redis.call('ZADD', call.root .. 'tickets:leases', whole(call.now + ticket_ms), id)
    else
      local offered = 0
      for _, option in ipairs(options) do
        if redis.call('ZSCORE', room_key(call, option[2][1][1]), id) then
          offered = option[1]
        end
      end
      parts[#parts + 1] = '[' .. quote(id) .. ',' .. whole(offered) .. ']'
    end
  end
  return reply_with(call, parts)
end)

-- Args: the names of rooms. Reply: a pair for each: calls at once, and how many wait.
register_account('room_read', function(call, args)
  local parts = {}
  for at, name in ipairs(args) do
    local key = room_key(call, name)
    local running = redis.call('ZCOUNT', key, '(' .. whole(call.now), '+inf')
    parts[at] = '[' .. whole(running) .. ',' .. whole(redis.call('ZCARD', key .. ':waiting')) .. ']'
  end
  return reply_with(call, parts)
end)
