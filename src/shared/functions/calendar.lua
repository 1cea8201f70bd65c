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
