import { addAmounts } from './amounts.ts'
import { countUses } from './count-uses.ts'
import { exactSums } from './exact-sums.ts'
import { settleReservations } from './kept-reservations.ts'
import { setMarks } from './marks.ts'
import { inChunks, openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { addToSlots } from './slots.ts'
import { findWindow } from './windows.ts'

/*
 * ARGV: expected fence, next fence, increments and marks (batch-format.ts), channel, ended reservations (../reservations.ts).
 * Returns 1, or 0 if the fence is elsewhere.
 */
export const applyScript = createScript(
  openPartition,
  `if fence ~= ARGV[1] then return 0 end`,
  writePartition,
  inChunks,
  addAmounts,
  findWindow,
  addToSlots,
  countUses,
  setMarks,
  exactSums,
  settleReservations,
  `
local groups = cmsgpack.unpack(ARGV[3])
begin()
countUses(groups)
setMissingMarks(cmsgpack.unpack(ARGV[4]))
settleReservations(cmsgpack.unpack(ARGV[6]))
finish('fence', ARGV[2])
call('PUBLISH', ARGV[5], '')
return 1
`,
)
