import { addAmounts } from './amounts.ts'
import { setMarks } from './marks.ts'
import { inChunks, openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { addToSlots } from './slots.ts'
import { findWindow } from './windows.ts'

/*
 * ARGV: expected fence, next fence, increments and marks (see batch-format.ts), channel.
 * Answers 1, or 0 when the fence is elsewhere.
 */
export const applyScript = createScript(
  openPartition,
  `if fence ~= ARGV[1] then return 0 end`,
  writePartition,
  inChunks,
  addAmounts,
  findWindow,
  addToSlots,
  setMarks,
  `
local function entriesOf(subject)
  local entries = {}
  for i, scope in ipairs(call('SMEMBERS', data .. 'scopes:' .. subject)) do
    local name = subject .. scope
    entries[i] = { name = name, windows = call('GET', data .. 'windows:' .. name) }
  end
  return entries
end

-- Adds to the fitting window of each entry; answers whether there was any.
local function count(entries, kind, series, second, amount)
  local isCounted = false
  for _, entry in ipairs(entries) do
    local id = entry.windows and fittingWindow(entry.name, entry.windows, second)
    if id then
      isCounted = true
      if add(data .. 'counter:' .. entry.name .. series, kind .. id, amount) then
        call('SADD', data .. 'series:' .. entry.name, series)
      end
    end
  end
  return isCounted
end

local groups = cmsgpack.unpack(ARGV[3])
local names, keys, windows = {}, {}, {}
for i, group in ipairs(groups) do
  names[i] = group[1] .. group[2]
  keys[i] = data .. 'windows:' .. names[i]
end
inChunks(keys, function(first, last)
  for i, each in ipairs(call('MGET', unpack(keys, first, last))) do windows[first + i - 1] = each end
end)

begin()
local waiting = {}
for i, group in ipairs(groups) do
  local name, minutes = names[i], {}
  local isScoped = group[2] ~= '0:'
  local entries = isScoped and { { name = name, windows = windows[i] } } or entriesOf(group[1])
  for j = 3, #group do
    local uses = group[j]
    local series = uses[1]
    for k = 2, #uses, 2 do
      local isCounted = count(entries, isScoped and 's' or 'u', series, uses[k], uses[k + 1])
      if not (isScoped and isCounted) then
        local minute, slots = addToSlot(name, series, uses[k], uses[k + 1])
        minutes[#minutes + 1] = minute
        minutes[#minutes + 1] = slots
      end
    end
  end
  if #minutes > 0 then
    waiting[#waiting + 1] = name
    inChunks(minutes, function(first, last)
      call('ZADD', data .. 'slots:' .. name, unpack(minutes, first, last))
    end)
  end
end
inChunks(waiting, function(first, last)
  call('SADD', data .. 'waiting', unpack(waiting, first, last))
end)
setMissingMarks(cmsgpack.unpack(ARGV[4]))
finish(ARGV[2])
call('PUBLISH', ARGV[5], '')
return 1
`,
)
