import { addAmounts, largerAmount } from './amounts.ts'
import { openPartition, openShadow, splitNames, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { eachSlot } from './slots.ts'
import { findWindow, rewriteWindows } from './windows.ts'

/*
 * ARGV: subject, scope, document, windows.
 *
 * Slots of the scope itself are removed as they are folded, so they can never count twice. Slots without a scope stay;
 * a window takes them once: all of them when it is new, those of the added time when its bounds have grown, and, when
 * it was withdrawn and comes back, the larger of what it had counted and what waits now.
 */
export const putEntryScript = createScript(
  openPartition,
  openShadow,
  writePartition,
  splitNames,
  addAmounts,
  largerAmount,
  findWindow,
  rewriteWindows,
  eachSlot,
  `
local subject, scope, windows = ARGV[1], ARGV[2], ARGV[4]
local stored = readWindows(subject .. scope)
if isPublished(stored) and struct.unpack('<d', windows) < struct.unpack('<d', stored) then return end

local before, listed, from, to = {}, {}, math.huge, -math.huge
eachWindow(windows, function(id, windowFrom, windowTo)
  listed[id] = true
  from, to = math.min(from, windowFrom), math.max(to, windowTo)
end)
local withdrawn = {}
eachWindow(stored or '', function(id, windowFrom, windowTo, wasListed)
  if wasListed == 1 then before[id] = { from = windowFrom, to = windowTo } end
  if not listed[id] then withdrawn[#withdrawn + 1] = packWindow(id, windowFrom, windowTo, 0) end
end)

local function counterOf(series)
  return counted .. 'counter:' .. subject .. scope .. series
end
local function count(series, field, amount, isHigh)
  if isHigh then call('HINCRBY', counterOf(series), '^' .. field, amount)
  elseif add(counterOf(series), field, amount) then
    call('SADD', counted .. 'series:' .. subject .. scope, series)
  end
end

local function foldOwnSlots()
  eachSlot(subject .. scope, from, to, function(series, second, amount, isHigh)
    local id = windowIn(windows, windowsAt, second)
    if id then count(series, 's' .. id, amount, isHigh) end
    return id ~= nil
  end)
end

local function foldUnscopedSlots()
  local sums = {}
  eachSlot(subject .. '0:', from, to, function(series, second, amount, isHigh)
    local id = windowIn(windows, windowsAt, second)
    local old = id and before[id]
    if not id or (old and old.from <= second and second < old.to) then return false end
    local field = 'u' .. id
    if not old then
      local name = series .. id
      sums[name] = sums[name] or {
        series = series, id = id, comesBack = call('HEXISTS', counterOf(series), field) == 1,
      }
      if sums[name].comesBack then field = 'w' .. id end
    end
    count(series, field, amount, isHigh)
    return false
  end)
  for _, sum in pairs(sums) do
    if sum.comesBack then keepLarger(counterOf(sum.series), 'u' .. sum.id, 'w' .. sum.id) end
  end
end

begin()
if from < to then
  inEachCounts(function()
    if scope ~= '0:' then foldOwnSlots() end
    foldUnscopedSlots()
  end)
end
storeWindows(subject, scope, windows .. table.concat(withdrawn))
call('SET', data .. 'entry:' .. subject .. scope, ARGV[3])
finish()
`,
)
