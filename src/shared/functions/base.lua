-- The functions that the gateways with one prefix run on their Redis or Valkey server. This file comes first; the
-- loader joins it with the others of this folder, in the order of their dependencies: adapters/node/shared/library.ts.
-- docs/development/shared-ledger.md has the keys, the records and the words.
--
-- Behind it come the functions that read and write records, which the loader makes of the lists of their fields:
-- src/accounting/shared/records.ts.
--
-- The loader puts two lines in front of the text: the header of the library, and `library`, its name, which contains
-- a hash of the text. So the functions of different releases have different names.
--
-- Every function gets the root of all keys, `{prefix}:`, as its only key; the braces put all keys into one
-- slot of a cluster. Arguments and replies are lists of texts; those of the functions for accounts are lists in
-- JSON. Each reply begins with the time of the server in milliseconds; those about accounts go on with the
-- epoch, which is empty when the server has lost its data.
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

local function now_us()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function whole(number)
  return string.format('%d', number)
end

-- Writes a number that may be false.
local function optional(number)
  return number and whole(number) or 'false'
end

-- Writes the values of a list, separated by commas.
local function write_each(write, list)
  local texts = {}
  for at, one in ipairs(list) do
    texts[at] = write(one)
  end
  return table.concat(texts, ',')
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
