import { expiredPerReadMax } from '../../reservations.ts'
import { readReservations } from './kept-reservations.ts'
import { openPartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * ARGV: per read the subject and scope, the name of a counter, the window, and the offset that the counters must have reached if a
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
local function expiredUnits(place, expired)
  local held = {}
  if #expired == 0 then return held end
  for _, text in ipairs(call('HMGET', data .. 'held:' .. place, unpack(expired))) do
    held[#held + 1] = string.match(text, '^(%d+) %d+$')
  end
  return held
end
local function read(place, counter, window, minOffset)
  local expired = expiredAt(place, now, expiredMax)
  if isBehind(place, expired, minOffset) then return false end
  local document = call('GET', data .. 'entry:' .. place)
  return { document, takenAt(place, { counter }, window), expiredUnits(place, expired) }
end
local readings = {}
for i = 1, #ARGV, 4 do
  readings[#readings + 1] = read(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3])
end
return readings
`,
)
