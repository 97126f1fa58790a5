import { addAmounts } from './amounts.ts'
import { exactSums } from './exact-sums.ts'
import { changeReservations, settleReservations } from './kept-reservations.ts'
import { readMarkOffsets } from './marks.ts'
import { openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * ARGV: subject and scope, id, units, milliseconds, the room that the cap leaves beside what is used elsewhere ('' for
 * no cap), how far the counters must have come, how many may be kept, how many expired ones may be dropped, window,
 * names of the counters, other partitions with the offsets they were read at, the document of the entry ('' for none),
 * 'all' or 'rest' of the units, 'first' where usage is reserved before it is recorded, and then the id of its mark.
 * Answers what became of it, and what is taken (takenAt); then units and expiry.
 */
export const reserveScript = createScript(
  openPartition,
  `
local isBehind = tonumber(fence) < tonumber(ARGV[6])
if isBehind and ARGV[14] ~= 'first' then return { 'behind' } end
`,
  writePartition,
  addAmounts,
  exactSums,
  changeReservations,
  readMarkOffsets,
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

-- Asked for before anything is written, since a server may refuse to tell.
local run = ARGV[14] == 'first' and runId()
local now = nowMs()
local expired = expiredAt(place, now, ARGV[8])
if isBehind and mayMissUsage(place, expired, run) then return { 'behind' } end
if #expired > 0 then begin() end
for _, each in ipairs(expired) do forget(place, each) end

local taken = takenAt(place, counters, window)
local function unitsTaken()
  if room == '' then return units end
  local left = {}
  addToSum(left, room, '1')
  for i = 1, #taken, 2 do
    addToSum(left, taken[i], '-1')
    if taken[i + 1] ~= '0' then addToSum(left, taken[i + 1], '-' .. unit) end
  end
  local rest = sumText(left)
  addToSum(left, units, '-1')
  if sumText(left) then return units end
  if ARGV[13] == 'rest' and rest ~= '0' then return rest end
end

local outcome, expiry = 'denied', whole(now + tonumber(ARGV[4]))
local knownUnits, knownExpiry = reservationAt(place, id)
if #expired >= tonumber(ARGV[8]) then
  outcome = 'again'
elseif knownUnits then
  outcome, units, expiry = 'admitted', knownUnits, knownExpiry
elseif readMarks(cmsgpack.unpack(ARGV[15]))[1] then
  outcome = 'denied'
elseif call('HLEN', data .. 'held:' .. place) >= tonumber(ARGV[7]) then
  outcome = 'full'
else
  local takes = unitsTaken()
  if takes then
    outcome, units = 'admitted', takes
    if not begun then begin() end
    call('HSET', data .. 'held:' .. place, id, units .. ' ' .. expiry)
    call('ZADD', data .. 'expiries:' .. place, expiry, id)
    call('ZADD', data .. 'reserving', 'GT', expiry, place)
    add(data .. 'reserved:' .. place, 'total', units)
    if run then call('HSET', data .. 'reserved:' .. place, 'run', run) end
    taken = takenAt(place, counters, window)
  end
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
  changeReservations,
  `
if not isHeld(ARGV[1], ARGV[2]) then return 0 end
begin()
forget(ARGV[1], ARGV[2])
finish()
return 1
`,
)

/* ARGV: reservations as settleReservations takes them; the partition that counted their usage, and its offset. */
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
