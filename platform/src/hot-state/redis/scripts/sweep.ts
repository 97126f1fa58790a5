import { dropBuckets } from './bucket-counts.ts'
import { openPartition, openShadow, splitNames, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { settledSlots } from './slots.ts'
import { findWindow, rewriteWindows } from './windows.ts'

/*
 * ARGV: the receive time before which marks are deleted, and the maximum number. Returns the number of deleted marks. The marks of
 * a minute are deleted when all of it has expired, so a mark may stay up to a minute longer.
 */
export const sweepMarksScript = createScript(
  openPartition,
  writePartition,
  `
if isEmpty then return 0 end
local swept, max = 0, tonumber(ARGV[2])
begin()
while swept < max do
  local minute = call('ZRANGE', data .. 'minutes', '0', '0')[1]
  if not minute or (tonumber(minute) + 1) * 60000 > tonumber(ARGV[1]) then break end
  local list = data .. 'marked:' .. minute
  for _, id in ipairs(call('LPOP', list, string.format('%.0f', max - swept)) or {}) do
    call('HDEL', data .. 'mark:' .. string.sub(id, 1, 2), string.sub(id, 3))
    swept = swept + 1
  end
  if call('EXISTS', list) == 0 then call('ZREM', data .. 'minutes', minute) end
end
finish()
return swept
`,
)

/*
 * ARGV: the second before which windows must have ended, and the maximum number of keys. Returns the number of deleted keys. Of the
 * entries with such a window, it also deletes bucket forms that were withdrawn before, and buckets of forms whose last one ended
 * before.
 */
export const sweepWindowsScript = createScript(
  openPartition,
  openShadow,
  writePartition,
  splitNames,
  findWindow,
  rewriteWindows,
  dropBuckets,
  `
if isEmpty then return 0 end
local swept, before = 0, tonumber(ARGV[1])

local function dropAmounts(name, id)
  for _, series in ipairs(call('SMEMBERS', counted .. 'series:' .. name)) do
    local counter = counted .. 'counter:' .. name .. series
    local fields = { 's' .. id, 'u' .. id, 'w' .. id, '^s' .. id, '^u' .. id, '^w' .. id }
    if call('HDEL', counter, unpack(fields)) > 0 then swept = swept + 1 end
    if call('EXISTS', counter) == 0 then call('SREM', counted .. 'series:' .. name, series) end
  end
end

local function dropForm(name, form, isForgotten)
  for _, series in ipairs(call('SMEMBERS', counted .. 'series:' .. name)) do
    local counter = counted .. 'counter:' .. name .. series
    local oldest, newest = boundsOf(counter, form.name)
    if oldest and (isForgotten or (newest + 1) * form.seconds + form.offset <= before) then
      dropBuckets(counter, form.name, oldest, newest)
      call('HDEL', counter, 'n' .. form.name)
      swept = swept + 1
      if call('EXISTS', counter) == 0 then call('SREM', counted .. 'series:' .. name, series) end
    end
  end
end

local function formsLeft(name, windows)
  local forms = {}
  for _, form in ipairs(formsIn(windows)) do
    local isForgotten = form.withdrawnAt > 0 and form.withdrawnAt < before
    if isForgotten then swept = swept + 1 else forms[#forms + 1] = form end
    inEachCounts(function() dropForm(name, form, isForgotten) end)
  end
  return forms
end

begin()
local ended = call('ZRANGEBYSCORE', data .. 'ends', '-inf', '(' .. ARGV[1], 'LIMIT', '0', ARGV[2])
for _, name in ipairs(ended) do
  if swept >= tonumber(ARGV[2]) then break end
  local subject, scope = firstPart(name)
  local windows = readWindows(name)
  local left = { packHeader(struct.unpack('<d', windows), string.byte(windows, windowsAt - 1) % 4, formsLeft(name, windows)) }
  eachWindow(windows, function(id, from, to, listed)
    if to < before then
      swept = swept + 1
      inEachCounts(function() dropAmounts(name, id) end)
    else
      left[#left + 1] = packWindow(id, from, to, listed)
    end
  end)
  storeWindows(subject, scope, table.concat(left))
end
finish()
return swept
`,
)

/*
 * ARGV: position, number of keys to visit, maximum number to delete, and the two limits of SweepLimits for slots. Returns the
 * number of deleted keys and the next position; '0' is the beginning. Slots of a shadow are deleted only once it is in use.
 */
export const sweepSlotsScript = createScript(
  openPartition,
  writePartition,
  splitNames,
  findWindow,
  rewriteWindows,
  settledSlots,
  `
if isEmpty then return { 0, '0' } end
local max = tonumber(ARGV[3])
local settledMinuteOf = settledSlots(ARGV[4], ARGV[5])

local function sweepPlace(place, most)
  local minutes = counted .. 'slots:' .. place
  local last = settledMinuteOf(firstPart(place)) - 1
  local names = call('ZRANGEBYSCORE', minutes, '-inf', string.format('%.0f', last), 'LIMIT', '0', string.format('%.0f', most))
  for _, name in ipairs(names) do
    call('DEL', counted .. 'slot:' .. place .. name)
    call('ZREM', minutes, name)
  end
  if call('EXISTS', minutes) == 0 then call('SREM', counted .. 'waiting', place) end
  return #names
end

begin()
local swept = 0
local page = call('SSCAN', counted .. 'waiting', ARGV[1], 'COUNT', ARGV[2])
local position = page[1]
for _, place in ipairs(page[2]) do
  if swept >= max then
    position = ARGV[1]
    break
  end
  swept = swept + sweepPlace(place, max - swept)
end
finish()
return { swept, position }
`,
)

/*
 * ARGV: position, number of names to visit, pattern of the partition's names. Returns the number of deleted names and the next
 * position. Deletes names that no head refers to. It visits all names of the server, so it runs only after a generation was
 * abandoned.
 */
export const sweepStaleScript = createScript(
  openPartition,
  openShadow,
  `
local stale = not isEmpty and call('HGET', partition, 'stale')
if not stale then return { 0, '0' } end
local position, of = string.match(ARGV[1], '^(%d+) (.+)$')
if of ~= stale then position = '0' end
local function begins(name, beginning)
  return beginning and string.sub(name, 1, #beginning) == beginning
end
local page = call('SCAN', position, 'MATCH', ARGV[3], 'COUNT', ARGV[2])
local swept = 0
for _, name in ipairs(page[2]) do
  local isNamed = begins(name, data) or begins(name, counted) or begins(name, shadowed)
  if not isNamed then swept = swept + call('UNLINK', name) end
end
if page[1] == '0' then
  call('HDEL', partition, 'stale')
  return { swept, '0' }
end
return { swept, page[1] .. ' ' .. stale }
`,
)
