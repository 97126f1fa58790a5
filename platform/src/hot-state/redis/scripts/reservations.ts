import { addAmounts } from './amounts.ts'
import { exactSums } from './exact-sums.ts'
import { changeReservations, settleReservations } from './kept-reservations.ts'
import { openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/* ARGV: id, then subject and scope of each place. Returns 1, or 0 if no place held it. */
export const releaseReservationScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  changeReservations,
  `
local id, now = ARGV[1], nowMs()
for i = 2, #ARGV do
  local units, expiry, isUsed, series = reservationAt(ARGV[i], id)
  if units and not isUsed and tonumber(expiry) > now then
    if not begun then begin() end
    drop(ARGV[i], id, units, isUsed, series)
  end
end
if not begun then return 0 end
finish()
return 1
`,
)

/*
 * ARGV: id, lifetime in milliseconds from now, maximum lifetime from its creation, then subject and scope of each place. The first
 * place decides. Returns 'gone', 'too-long' and the latest expiry, or 'extended' and the expiry.
 */
export const extendReservationScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  changeReservations,
  `
local id, now = ARGV[1], nowMs()
local _, expiry, isUsed = reservationAt(ARGV[4], id)
if not expiry or isUsed or tonumber(expiry) <= now then return { 'gone' } end
-- The creation of a reservation of an earlier release is not known, so it cannot be extended.
local created = call('HGET', data .. 'held:' .. ARGV[4], '@' .. id)
local latest = created and tonumber(created) + tonumber(ARGV[3]) or tonumber(expiry)
local moved = now + tonumber(ARGV[2])
if moved > latest then return { 'too-long', whole(latest) } end
moved = whole(math.max(moved, tonumber(expiry)))
begin()
for i = 4, #ARGV do
  local units, _, isUsedHere, series = reservationAt(ARGV[i], id)
  if units and not isUsedHere then
    call('HSET', data .. 'held:' .. ARGV[i], id, units .. ' ' .. moved .. series)
    call('ZADD', data .. 'expiries:' .. ARGV[i], moved, id)
    call('ZADD', data .. 'reserving', 'GT', moved, ARGV[i])
  end
end
finish()
return { 'extended', moved }
`,
)

/* ARGV: reservations in the format of settleReservations, the partition that counted their usage, and its offset. */
export const settleElsewhereScript = createScript(
  openPartition,
  writePartition,
  addAmounts,
  exactSums,
  settleReservations,
  `
local note, offset = 'p' .. ARGV[2], ARGV[3]
local function noted(place)
  return tonumber(call('HGET', data .. 'reserved:' .. place, note) or 0)
end
settleReservations(cmsgpack.unpack(ARGV[1]), function(place, partOffset)
  local countedTo = partOffset and partOffset + 1 or tonumber(offset)
  if noted(place) < countedTo then call('HSET', data .. 'reserved:' .. place, note, whole(countedTo)) end
  call('ZADD', data .. 'reserving', 'GT', whole(nowMs()), place)
end, function(place, partOffset)
  return partOffset < noted(place)
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
