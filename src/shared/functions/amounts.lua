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
