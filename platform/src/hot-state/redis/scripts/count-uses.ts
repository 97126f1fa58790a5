import { addToBuckets } from './bucket-counts.ts'

/*
 * Adds the increments of `groups` (batch-format.ts) to the counts whose names begin with `counted`: each to its window or to its
 * slot, and to its buckets. `settledMinuteOf` returns the minute before which the slots of a subject and scope are settled.
 */
export const countUses = `
${addToBuckets}
local function entriesOf(subject)
  local entries = {}
  for i, scope in ipairs(call('SMEMBERS', data .. 'scopes:' .. subject)) do
    local name = subject .. scope
    entries[i] = { name = name, windows = call('GET', data .. 'windows:' .. name) }
  end
  return entries
end

local function addToCounter(name, series, field, amount)
  if add(counted .. 'counter:' .. name .. series, field, amount) then
    call('SADD', counted .. 'series:' .. name, series)
  end
end

-- Adds to the matching window of each entry. Returns whether there was any.
local function addToWindows(entries, kind, series, second, amount)
  local isCounted = false
  for _, entry in ipairs(entries) do
    local id = entry.windows and fittingWindow(entry.name, entry.windows, entry.start or windowsAt, second)
    if id then
      isCounted = true
      addToCounter(entry.name, series, kind .. id, amount)
    end
  end
  return isCounted
end

-- Reads the forms of the entries that have any. Returns whether there are such entries.
local byte = string.byte
local function openForms(entries)
  local hasForms = false
  for i = 1, #entries do
    local windows = entries[i].windows
    if windows and byte(windows, windowsAt - 1) >= 4 then
      entries[i].start, entries[i].forms = windowsStart(windows), formsIn(windows)
      hasForms = true
    end
  end
  return hasForms
end

-- isWaiting: the usage is in a slot, so that a publication that still fills a form may find it there.
local function addToAllBuckets(entries, series, second, amount, isWaiting)
  for _, entry in ipairs(entries) do
    for _, form in ipairs(entry.forms or {}) do
      if not isWaiting or second < form.filledTo then
        addToBucket(entry.name, series, form, second, amount)
      end
    end
  end
end

local function countUses(groups, settledMinuteOf)
  local names, keys, windows = {}, {}, {}
  for i, group in ipairs(groups) do
    names[i] = group[1] .. group[2]
    keys[i] = data .. 'windows:' .. names[i]
  end
  inChunks(keys, function(first, last)
    for i, each in ipairs(call('MGET', unpack(keys, first, last))) do windows[first + i - 1] = each end
  end)
  local waiting = {}
  for i, group in ipairs(groups) do
    local name, minutes = names[i], {}
    local isScoped = group[2] ~= '0:'
    local settledMinute = settledMinuteOf and settledMinuteOf(group[1], group[2]) or -math.huge
    local entries = isScoped and { { name = name, windows = windows[i] } } or entriesOf(group[1])
    local hasForms = openForms(entries)
    for j = 3, #group do
      local uses = group[j]
      local series = uses[1]
      for k = 2, #uses, 2 do
        local isCounted = addToWindows(entries, isScoped and 's' or 'u', series, uses[k], uses[k + 1])
        local isWaiting = not (isScoped and isCounted) and math.floor(uses[k] / 60) >= settledMinute
        if isWaiting then
          local minute, slots = addToSlot(name, series, uses[k], uses[k + 1])
          minutes[#minutes + 1] = minute
          minutes[#minutes + 1] = slots
        end
        if hasForms then addToAllBuckets(entries, series, uses[k], uses[k + 1], isWaiting) end
      end
    end
    if #minutes > 0 then
      waiting[#waiting + 1] = name
      inChunks(minutes, function(first, last)
        call('ZADD', counted .. 'slots:' .. name, unpack(minutes, first, last))
      end)
    end
  end
  writeBuckets()
  inChunks(waiting, function(first, last)
    call('SADD', counted .. 'waiting', unpack(waiting, first, last))
  end)
end
`
