import { addAmounts } from './amounts.ts'
import { exactSums } from './exact-sums.ts'
import { openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * What is kept of reservations, per (subject, scope):
 *
 *   held:      by id "<units> <expiry>", with a `u` behind it once its usage was counted: then it holds nothing any
 *              more, but is told of until it expires, so that a repeated request makes no second one
 *   expiries:  the ids, sorted by when they expire
 *   reserved:  `total` and `^total`, the units that are held (amounts.ts); `p<partition>`, the offset below which that
 *              partition has counted usage of reservations that were kept here
 *
 * and `reserving`: each (subject, scope) that has any of it, sorted by when the last of it expires.
 */
const keepReservations = `
local function nowMs()
  local now = call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
local function whole(number)
  return string.format('%.0f', number)
end
local function reservationAt(place, id)
  local text = call('HGET', data .. 'held:' .. place, id)
  if not text then return end
  local units, expiry, used = string.match(text, '^(%d+) (%d+)(u?)$')
  return units, expiry, used == 'u'
end
local function giveBack(place, units)
  add(data .. 'reserved:' .. place, 'total', '-' .. units)
end
local function isHeld(place, id)
  local units, expiry, isUsed = reservationAt(place, id)
  return units and not isUsed and tonumber(expiry) > nowMs()
end
local function forget(place, id)
  local units, _, isUsed = reservationAt(place, id)
  if units and not isUsed then giveBack(place, units) end
  call('HDEL', data .. 'held:' .. place, id)
  call('ZREM', data .. 'expiries:' .. place, id)
end
`

/* Ends the reservation because its usage is counted. Answers whether it was held until now. */
export const settleReservation = `
${keepReservations}
local function settleReservation(place, id)
  if not isHeld(place, id) then return false end
  local units, expiry = reservationAt(place, id)
  call('HSET', data .. 'held:' .. place, id, units .. ' ' .. expiry .. 'u')
  giveBack(place, units)
  return true
end
`

/*
 * ARGV: subject and scope, id, units, milliseconds, the room that the cap leaves beside what is used elsewhere ('' for
 * no cap), how far the counters must have come, how many may be kept, how many expired ones may be dropped, window,
 * names of the counters, other partitions with the offsets they were read at, and the document of the entry ('' for
 * none). Answers what became of it, and what is taken: amounts of 1 and of 2^62, in turn, of the counters, and then of what is reserved; then units and expiry.
 */
export const reserveScript = createScript(
  openPartition,
  `if tonumber(fence) < tonumber(ARGV[6]) then return { 'behind' } end`,
  writePartition,
  addAmounts,
  exactSums,
  keepReservations,
  `
local place, id, units, room = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
local window, counters, seen = ARGV[9], cmsgpack.unpack(ARGV[10]), cmsgpack.unpack(ARGV[11])

local function isReadBefore()
  for i = 1, #seen, 2 do
    local offset = call('HGET', data .. 'reserved:' .. place, 'p' .. seen[i])
    if offset and tonumber(seen[i + 1]) < tonumber(offset) then return true end
  end
  return false
end
local function isPublishedSince()
  return (call('GET', data .. 'entry:' .. place) or '') ~= ARGV[12]
end
if isPublishedSince() or isReadBefore() then return { 'behind' } end

local now = nowMs()
local expired = call('ZRANGEBYSCORE', data .. 'expiries:' .. place, '-inf', whole(now), 'LIMIT', '0', ARGV[8])
if #expired > 0 then begin() end
for _, each in ipairs(expired) do forget(place, each) end

local taken = {}
local function take(key, field)
  local amounts = call('HMGET', key, field, '^' .. field)
  taken[#taken + 1] = amounts[1] or '0'
  taken[#taken + 1] = amounts[2] or '0'
end
local function takeAll()
  taken = {}
  for _, counter in ipairs(counters) do
    take(counted .. 'counter:' .. counter, 's' .. window)
    take(counted .. 'counter:' .. counter, 'u' .. window)
  end
  take(data .. 'reserved:' .. place, 'total')
end
takeAll()

local function hasRoom()
  if room == '' then return true end
  local sum = {}
  for i = 1, #taken, 2 do
    addToSum(sum, taken[i], '1')
    if taken[i + 1] ~= '0' then addToSum(sum, taken[i + 1], unit) end
  end
  addToSum(sum, units, '1')
  addToSum(sum, room, '-1')
  return not isAboveZero(sum)
end

local outcome, expiry = 'denied', whole(now + tonumber(ARGV[4]))
local knownUnits, knownExpiry = reservationAt(place, id)
if knownUnits and tonumber(knownExpiry) > now then
  outcome, units, expiry = 'admitted', knownUnits, knownExpiry
elseif #expired >= tonumber(ARGV[8]) then
  outcome = 'again'
elseif call('HLEN', data .. 'held:' .. place) >= tonumber(ARGV[7]) then
  outcome = 'full'
elseif hasRoom() then
  outcome = 'admitted'
  if not begun then begin() end
  call('HSET', data .. 'held:' .. place, id, units .. ' ' .. expiry)
  call('ZADD', data .. 'expiries:' .. place, expiry, id)
  call('ZADD', data .. 'reserving', 'GT', expiry, place)
  add(data .. 'reserved:' .. place, 'total', units)
  takeAll()
end
if begun then finish() end
return { outcome, taken, units, expiry }
`,
)

/* ARGV: subject and scope, id. Answers 1, or 0 when it was not held. */
export const releaseReservationScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  keepReservations,
  `
if not isHeld(ARGV[1], ARGV[2]) then return 0 end
begin()
forget(ARGV[1], ARGV[2])
finish()
return 1
`,
)

/* ARGV: subject and scope, id and so on; the partition that counted their usage, and its offset. */
export const settleElsewhereScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  settleReservation,
  `
local settled, note, offset = cmsgpack.unpack(ARGV[1]), 'p' .. ARGV[2], ARGV[3]
local held = {}
for i = 1, #settled, 2 do
  if isHeld(settled[i], settled[i + 1]) then
    held[#held + 1] = settled[i]
    held[#held + 1] = settled[i + 1]
  end
end
if #held == 0 then return end
begin()
for i = 1, #held, 2 do
  local reserved = data .. 'reserved:' .. held[i]
  settleReservation(held[i], held[i + 1])
  local before = call('HGET', reserved, note)
  if not before or tonumber(before) < tonumber(offset) then call('HSET', reserved, note, offset) end
  call('ZADD', data .. 'reserving', 'GT', whole(nowMs()), held[i])
end
finish()
`,
)

/* ARGV: the time before which the last of a (subject, scope) must have expired, how many may go. Answers how many went. */
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
