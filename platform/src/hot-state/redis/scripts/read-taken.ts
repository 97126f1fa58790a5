import { expiredPerReadMax } from '../../reservations.ts'
import { readReservations } from './kept-reservations.ts'
import { openPartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * ARGV: per read the subject and scope, the series, the name of a counter, the window, and the offset that the counters must have reached if a
 * reservation may be missing. Returns per read false if they have not; otherwise the document, the used and reserved amounts
 * (takenAt), and the units of each expired reservation that was checked. Writes nothing.
 */
export const readTakenScript = createScript(
  openPartition,
  readReservations,
  `
local now, run, expiredMax = nowMs(), nil, ${expiredPerReadMax}
local function isBehind(place, expired, minOffset)
  if tonumber(fence) >= tonumber(minOffset) then return false end
  if #expired == expiredMax then return true end
  run = run or runId()
  return mayMissUsage(place, expired, run)
end
local function expiredUnits(place, series, expired)
  local held = {}
  for _, id in ipairs(expired) do
    local units, _, isUsed, bySeries = reservationAt(place, id)
    if not isUsed then held[#held + 1] = unitsOn(units, bySeries, series) end
  end
  return held
end
local function read(place, series, counter, window, minOffset)
  local expired = expiredAt(place, now, expiredMax)
  if isBehind(place, expired, minOffset) then return false end
  local document = call('GET', data .. 'entry:' .. place)
  return { document, takenAt(place, series, { counter }, window), expiredUnits(place, series, expired) }
end
local readings = {}
for i = 1, #ARGV, 5 do readings[#readings + 1] = read(unpack(ARGV, i, i + 4)) end
return readings
`,
)
