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
