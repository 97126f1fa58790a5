import { addAmounts } from './amounts.ts'
import { dropBuckets } from './bucket-counts.ts'
import { exactSums } from './exact-sums.ts'
import { changeReservations, settleReservations } from './kept-reservations.ts'
import { readMarkOffsets } from './marks.ts'
import { openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * ARGV: id, lifetime in milliseconds, maximum expired reservations to drop per place, id of its mark; then for each of one or two
 * places: subject and scope, units, room left by the cap after usage elsewhere ('' for no cap), required offset of the counters,
 * maximum number of reservations, series, window, names of the counters, other partitions with the offsets they were read at, document of
 * the entry ('' for none), 'all' or 'rest' of the units, 'first' if usage is reserved before it is recorded, id of the reservation
 * that these units replace ('' for none), and units of several series with further caps ('' for none; packBySeries). Returns the
 * outcome, and for each place the used and reserved amounts (takenAt) and those of each further cap; then the units of the first
 * place and the expiry.
 */
export const reserveScript = createScript(
  openPartition,
  `
local id, droppedMax, places, asksFirst = ARGV[1], ARGV[3], {}, false
for i = 5, #ARGV, 14 do
  local place = {
    name = ARGV[i], units = ARGV[i + 1], room = ARGV[i + 2],
    isBehind = tonumber(fence) < tonumber(ARGV[i + 3]),
    keptMax = tonumber(ARGV[i + 4]), series = ARGV[i + 5], window = ARGV[i + 6],
    counters = cmsgpack.unpack(ARGV[i + 7]), seen = cmsgpack.unpack(ARGV[i + 8]),
    document = ARGV[i + 9], takes = ARGV[i + 10], isFirst = ARGV[i + 11] == 'first', replaces = ARGV[i + 12],
    heldText = '', held = {}, caps = {},
  }
  if ARGV[i + 13] ~= '' then place.heldText, place.held, place.caps = unpack(cmsgpack.unpack(ARGV[i + 13])) end
  if place.isBehind and not place.isFirst then return { 'behind' } end
  asksFirst = asksFirst or place.isFirst
  places[#places + 1] = place
end
`,
  writePartition,
  addAmounts,
  exactSums,
  changeReservations,
  dropBuckets,
  readMarkOffsets,
  `
-- Returns the amounts of the buckets of a form from one on, in each counter, as takenAt does.
local function takenSince(place, series, counters, form, from)
  local taken = {}
  for _, counter in ipairs(counters) do
    local key = counted .. 'counter:' .. counter
    local oldest, newest = boundsOf(key, form)
    local fields = {}
    for bucket = math.max(from, oldest or 0), newest or -math.huge do
      fields[#fields + 1] = bucketField(form, bucket)
      fields[#fields + 1] = '^' .. fields[#fields]
    end
    if #fields > 0 then take(taken, key, unpack(fields)) end
  end
  return takeReserved(taken, place, series)
end
local function takenUnder(place, cap)
  local series, _, kind, name, from, counters = unpack(cap)
  if kind == 'window' then return takenAt(place, series, counters, name) end
  return takenSince(place, series, counters, name, from)
end
local function takenOf(place)
  local taken = { takenAt(place.name, place.series, place.counters, place.window) }
  for i, cap in ipairs(place.caps) do taken[i + 1] = takenUnder(place.name, cap) end
  return taken
end
local function isReadBefore(place)
  for i = 1, #place.seen, 2 do
    local offset = call('HGET', data .. 'reserved:' .. place.name, 'p' .. place.seen[i])
    if offset and tonumber(place.seen[i + 1]) < tonumber(offset) then return true end
  end
  return false
end
local function isPublishedSince(place)
  return (call('GET', data .. 'entry:' .. place.name) or '') ~= place.document
end
for _, place in ipairs(places) do
  if isPublishedSince(place) or isReadBefore(place) then return { 'behind' } end
end

-- Read before anything is written, because a server may refuse the command.
local run = asksFirst and runId()
local now = nowMs()
for _, place in ipairs(places) do
  place.expired = expiredAt(place.name, now, droppedMax)
  if place.isBehind and mayMissUsage(place.name, place.expired, run) then return { 'behind' } end
end
local outcome, expiry = nil, whole(now + tonumber(ARGV[2]))
for _, place in ipairs(places) do
  if #place.expired > 0 and not begun then begin() end
  for _, each in ipairs(place.expired) do forget(place.name, each) end
  if #place.expired >= tonumber(droppedMax) then outcome = 'again' end
  place.taken = takenOf(place)
end

-- Returns the units and series of the reservation that is replaced, if it is held.
local function heldByReplaced(place)
  if place.replaces == '' then return end
  local units, _, isUsed, series = reservationAt(place.name, place.replaces)
  if units and not isUsed then return units, series end
end
local function roomLeft(room, taken, freed)
  local left = {}
  addToSum(left, room, '1')
  if freed then addToSum(left, freed, '1') end
  for i = 1, #taken, 2 do
    if taken[i] ~= '0' then addToSum(left, taken[i], '-1') end
    if taken[i + 1] ~= '0' then addToSum(left, taken[i + 1], '-' .. unit) end
  end
  return left
end
local function unitsTaken(place, freed)
  if place.room == '' then return place.units end
  local left = roomLeft(place.room, place.taken[1], freed)
  local rest = sumText(left)
  addToSum(left, place.units, '-1')
  if sumText(left) then return place.units end
  if place.takes == 'rest' and rest ~= '0' then return rest end
end
local function hasRoomFurther(place, freedUnits, freedSeries)
  for i, cap in ipairs(place.caps) do
    local series, room = cap[1], cap[2]
    local units = place.held[series]
    if units then
      local freed = freedUnits and unitsOn(freedUnits, freedSeries, series)
      local left = roomLeft(room, place.taken[i + 1], freed)
      addToSum(left, units, '-1')
      if not sumText(left) then return false end
    end
  end
  return true
end
-- Returns why nothing can be reserved at the place; nil if it can be, or already is.
local function refusal(place)
  local units, knownExpiry = reservationAt(place.name, id)
  if units then
    place.units, place.knownExpiry = units, knownExpiry
    return
  end
  if place.isFirst and readMarks(cmsgpack.unpack(ARGV[4]))[1] then return 'denied' end
  local freedUnits, freedSeries = heldByReplaced(place)
  local freed = freedUnits and unitsOn(freedUnits, freedSeries, place.series)
  place.isReplacing = freedUnits ~= nil
  if call('HLEN', data .. 'held:' .. place.name) - (freedUnits and 1 or 0) >= place.keptMax then return 'full' end
  local units = unitsTaken(place, freed)
  if not units or not hasRoomFurther(place, freedUnits, freedSeries) then return 'denied' end
  place.units = units
end
local function hold(place)
  if not begun then begin() end
  if place.isReplacing then forget(place.name, place.replaces) end
  call('HSET', data .. 'held:' .. place.name, id, place.units .. ' ' .. expiry .. place.heldText)
  call('ZADD', data .. 'expiries:' .. place.name, expiry, id)
  call('ZADD', data .. 'reserving', 'GT', expiry, place.name)
  eachHeld(place.units, place.heldText, function(field, units) add(data .. 'reserved:' .. place.name, field, units) end)
  if place.isFirst then call('HSET', data .. 'reserved:' .. place.name, 'run', run) end
  place.taken = takenOf(place)
end

if not outcome then
  outcome = refusal(places[1])
  if places[1].knownExpiry then
    expiry = places[1].knownExpiry
  elseif not outcome then
    outcome = places[2] and refusal(places[2])
    for _, place in ipairs(places) do
      if not outcome and not place.knownExpiry then hold(place) end
    end
  end
end
if begun then finish() end
local taken = {}
for _, place in ipairs(places) do taken[#taken + 1] = place.taken end
return { outcome or 'admitted', taken, places[1].units, expiry }
`,
)

/* ARGV: id, then subject and scope of each place. Returns 1, or 0 if no place held it. */
export const releaseReservationScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  changeReservations,
  `
for i = 2, #ARGV do
  if isHeld(ARGV[i], ARGV[1]) then
    if not begun then begin() end
    forget(ARGV[i], ARGV[1])
  end
end
if not begun then return 0 end
finish()
return 1
`,
)

/* ARGV: reservations in the format of settleReservations, the partition that counted their usage, and its offset. */
export const settleElsewhereScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  settleReservations,
  `
local note, offset = 'p' .. ARGV[2], ARGV[3]
settleReservations(cmsgpack.unpack(ARGV[1]), function(place)
  local reserved = data .. 'reserved:' .. place
  local before = call('HGET', reserved, note)
  if not before or tonumber(before) < tonumber(offset) then call('HSET', reserved, note, offset) end
  call('ZADD', data .. 'reserving', 'GT', whole(nowMs()), place)
end)
if begun then finish() end
`,
)

/*
 * ARGV: the time before which the last reservation of a (subject, scope) must have expired, and the maximum number of places.
 * Returns the number of deleted places.
 */
export const sweepReservationsScript = createScript(
  openPartition,
  writePartition,
  `
if isEmpty then return 0 end
local ended = call('ZRANGEBYSCORE', data .. 'reserving', '-inf', '(' .. ARGV[1], 'LIMIT', '0', ARGV[2])
if #ended == 0 then return 0 end
begin()
for _, place in ipairs(ended) do
  call('UNLINK', data .. 'reserved:' .. place, data .. 'held:' .. place, data .. 'expiries:' .. place)
  call('ZREM', data .. 'reserving', place)
end
finish()
return #ended
`,
)
