import { addToBuckets } from './bucket-counts.ts'
import { publishForms } from './bucket-forms.ts'
import { addAmounts, moveAmount, moveLarger } from './amounts.ts'
import { exactSums } from './exact-sums.ts'
import { tallyAmounts } from './tally.ts'
import { openPartition, openShadow, splitNames, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { settleReservations } from './kept-reservations.ts'
import { eachSlot } from './slots.ts'
import { findWindow, rewriteWindows } from './windows.ts'

/*
 * ARGV: subject, scope, document, windows, maximum minutes of slots to fold per kind, reservations that end with the document (in
 * the format of settleReservations); then pairs of a window and the window that takes over its amounts. Returns 1 if there is more
 * to fold: the same call must then be repeated.
 *
 * Time is added to the windows in order, as far as its slots are folded: a window is listed up to the *frontier*, and usage after
 * it stays in slots. So after each step the counts are correct for the windows as listed, whether or not another step follows. The
 * last step replaces the document and withdraws windows.
 *
 * Slots are folded into the buckets of new specs before windows, because windows remove slots of the scope itself.
 *
 * Slots of the scope itself are removed when they are folded, so they never count twice. Slots without a scope stay; a window folds
 * them once, when their time is added to it. A window that was withdrawn and returns is counted again from them, while its previous
 * amount is put aside. In the end it keeps the larger of the two.
 */
export const putEntryScript = createScript(
  openPartition,
  openShadow,
  writePartition,
  splitNames,
  addAmounts,
  tallyAmounts,
  moveLarger,
  moveAmount,
  findWindow,
  rewriteWindows,
  eachSlot,
  exactSums,
  settleReservations,
  addToBuckets,
  `
local firstSlot, afterSlots = -1e12, 1e12
`,
  publishForms,
  `
local subject, scope, windows, minutesMax = ARGV[1], ARGV[2], ARGV[4], tonumber(ARGV[5])
local name = subject .. scope
local stored = readWindows(name)
local storedVersion = isPublished(stored) and struct.unpack('<d', stored)
if storedVersion and struct.unpack('<d', windows) < storedVersion then return 0 end

-- The end up to which each window is already listed.
local listedTo, isWithdrawn = {}, {}
eachWindow(stored or '', function(id, _, to, isListed)
  if isListed == 1 then listedTo[id] = to else isWithdrawn[id] = true end
end)

local storedForms = formsIn(stored or '')
local forms = publishedForms(storedForms, formsIn(windows), secondNow())
local fillFrom = math.huge
for _, form in ipairs(forms) do
  if #form.ids > 0 then fillFrom = math.min(fillFrom, form.filledTo) end
end

local addedFrom, addedTo = math.huge, -math.huge
eachWindow(windows, function(id, from, to)
  local start = listedTo[id] or from
  if start < to then addedFrom, addedTo = math.min(addedFrom, start), math.max(addedTo, to) end
end)

-- Returns the second before which there are at most as many slots as this step may fold; always after the first one.
local function frontierOf(from, to)
  local first, frontier = math.floor(from / 60), to
  local function look(place)
    local behind = call('ZRANGEBYSCORE', counted .. 'slots:' .. place, minuteText(from), minuteText(to - 1),
      'WITHSCORES', 'LIMIT', minutesMax, 1)
    if behind[2] then
      frontier = math.min(frontier, math.max(tonumber(behind[2]), first + 1) * 60)
    end
  end
  inEachCounts(function()
    if scope ~= '0:' then look(name) end
    look(subject .. '0:')
  end)
  return frontier
end
local hasAdded = addedFrom < addedTo
local frontier = hasAdded and frontierOf(addedFrom, addedTo) or math.huge
local isLast = not hasAdded or frontier == addedTo

local function eachCounter(act)
  inEachCounts(function()
    local series = counted .. 'series:' .. name
    for _, each in ipairs(call('SMEMBERS', series)) do act(counted .. 'counter:' .. name .. each) end
  end)
end

-- Adds slots before filledTo to the buckets of forms that are not filled yet. The slots stay.
local function fillBuckets(filledTo)
  local function fill(place)
    eachSlot(place, fillFrom, filledTo, function(series, second, amount, isHigh)
      for _, form in ipairs(forms) do
        if #form.ids > 0 and second >= form.filledTo and second < filledTo then
          addToBucket(name, series, form, second, isHigh and { '0', amount } or amount)
        end
      end
      return false
    end)
  end
  inEachCounts(function()
    if scope ~= '0:' then fill(name) end
    fill(subject .. '0:')
  end)
  writeBuckets()
  for _, form in ipairs(forms) do
    if #form.ids > 0 then form.filledTo = math.max(form.filledTo, filledTo) end
  end
end

local function fold()
  local tally = newTally(function(series, field, amount)
    if add(counted .. 'counter:' .. name .. series, field, amount) then
      call('SADD', counted .. 'series:' .. name, series)
    end
  end)
  if scope ~= '0:' then
    eachSlot(name, addedFrom, frontier, function(series, second, amount, isHigh)
      local id = windowIn(windows, windowsStart(windows), second)
      if id then tally.add(series, 's' .. id, amount, isHigh) end
      return id ~= nil
    end)
  end
  eachSlot(subject .. '0:', addedFrom, frontier, function(series, second, amount, isHigh)
    local id = windowIn(windows, windowsStart(windows), second)
    if id and not (listedTo[id] and second < listedTo[id]) then
      tally.add(series, 'u' .. id, amount, isHigh)
    end
    return false
  end)
  tally.finish()
end

-- The windows as listed from now on, followed by the withdrawn ones.
local next, isNext, comesBack = {}, {}, false
eachWindow(windows, function(id, from, to)
  local listed = math.max(frontier, listedTo[id] or frontier)
  if not isLast then to = math.min(to, listed) end
  if isLast or from < to then
    next[#next + 1] = packWindow(id, from, to, 1)
    isNext[id] = true
    if isWithdrawn[id] then comesBack = true end
  end
end)
eachWindow(stored or '', function(id, from, to, isListed)
  if not isNext[id] then next[#next + 1] = packWindow(id, from, to, isLast and 0 or isListed) end
end)

begin()
if #forms > 0 then call('HSET', partition, 'forms', '1') end
if fillFrom < math.huge then
  local filledTo = frontierOf(fillFrom, afterSlots)
  fillBuckets(filledTo)
  if filledTo < afterSlots then
    local header = unfinishedHeader(storedVersion, formsMeanwhile(storedForms, forms, secondNow()))
    storeWindows(subject, scope, header .. string.sub(stored or '', windowsStart(stored or '')))
    finish()
    return 1
  end
  for _, form in ipairs(forms) do
    if #form.ids > 0 then form.filledTo = math.huge end
  end
end
if comesBack then
  eachCounter(function(counter)
    for id in pairs(isNext) do
      if isWithdrawn[id] then moveLarger(counter, 'w' .. id, 'u' .. id) end
    end
  end)
end
if hasAdded then inEachCounts(fold) end
if isLast then
  local takesIn = ARGV[7] ~= nil
  if takesIn then
    -- Slots without a scope are counted again, so their previous amount is put aside.
    eachCounter(function(counter)
      for i = 7, #ARGV, 2 do
        move(counter, 's' .. ARGV[i], 's' .. ARGV[i + 1])
        move(counter, 'u' .. ARGV[i], 'w' .. ARGV[i + 1])
      end
    end)
  end
  if takesIn or comesBack or isUnfinished(stored) then
    eachCounter(function(counter)
      for id in pairs(isNext) do moveLarger(counter, 'u' .. id, 'w' .. id) end
    end)
  end
  storeWindows(subject, scope, packHeader(struct.unpack('<d', windows), 1, forms) .. table.concat(next))
  call('SET', data .. 'entry:' .. name, ARGV[3])
  settleReservations(cmsgpack.unpack(ARGV[6]))
else
  local header = unfinishedHeader(storedVersion, formsMeanwhile(storedForms, forms, secondNow()))
  storeWindows(subject, scope, header .. table.concat(next))
end
finish()
return isLast and 0 or 1
`,
)
