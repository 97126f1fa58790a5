/*
 * Slots are stored per minute: a hash per (subject, scope, series, minute) has the amount of each second, named by the second
 * within the minute. Per (subject, scope) a sorted set lists the series and minutes of these hashes, and one set lists every
 * (subject, scope) with slots. All of them belong to the counts whose names begin with `counted`.
 */
export const addToSlots = `
local function addToSlot(place, series, second, amount)
  local minute = math.floor(second / 60)
  local minuteText = string.format('%.0f', minute)
  local name = series .. minuteText
  add(counted .. 'slot:' .. place .. name, string.format('%.0f', second - minute * 60), amount)
  return minuteText, name
end
`

/* Calls `take` with each second of the minutes that overlap [from, to). A slot for which it returns true is removed. */
export const eachSlot = `
local function minuteText(second)
  return string.format('%.0f', math.floor(second / 60))
end
local function eachSlot(place, from, to, take)
  local names = call('ZRANGEBYSCORE', counted .. 'slots:' .. place, minuteText(from), minuteText(to - 1))
  for _, name in ipairs(names) do
    local series, minute = firstPart(name)
    local key = counted .. 'slot:' .. place .. name
    local slots, taken = call('HGETALL', key), {}
    for i = 1, #slots, 2 do
      local _, _, twin, second = string.find(slots[i], '^(%^?)(%d+)$')
      if take(series, tonumber(minute) * 60 + tonumber(second), slots[i + 1], twin ~= '') then
        taken[#taken + 1] = slots[i]
      end
    end
    if #taken > 0 then call('HDEL', key, unpack(taken)) end
    if #taken * 2 == #slots then call('ZREM', counted .. 'slots:' .. place, name) end
  end
  if call('EXISTS', counted .. 'slots:' .. place) == 0 then call('SREM', counted .. 'waiting', place) end
end
`

/*
 * Returns a function of subject and scope: the minute before which no window needs its slots any more, by the two limits of
 * SlotLimits. Slots after the last window of their scope may still get a window: windows are published only for some time ahead,
 * and the next publication may be late or in progress.
 */
export const settledSlots = `
local function settledSlots(beforeText, knownBeforeText)
  local before, knownBefore = tonumber(beforeText), tonumber(knownBeforeText)
  local function settledBefore(subject, scope)
    if not isPublished(call('GET', data .. 'windows:' .. subject .. '0:')) then return before end
    local settled = knownBefore
    for _, each in ipairs(scope == '0:' and call('SMEMBERS', data .. 'scopes:' .. subject) or { scope }) do
      local windows, last = readWindows(subject .. each) or '', nil
      if isUnfinished(windows) then return before end
      eachWindow(windows, function(_, _, to, listed)
        if listed == 1 and (not last or to > last) then last = to end
      end)
      if last then settled = math.min(settled, last) end
    end
    return math.max(before, settled)
  end
  return function(subject, scope) return math.floor(settledBefore(subject, scope) / 60) end
end
`
