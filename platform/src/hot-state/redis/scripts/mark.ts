import { markedOffset, readMarkOffsets, setMarks } from './marks.ts'
import { inChunks, openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/* ARGV: ids (batch-format.ts). Answers the offset of each, or nothing for an id without a mark. */
export const readMarksScript = createScript(
  openPartition,
  readMarkOffsets,
  `return readMarks(cmsgpack.unpack(ARGV[1]))`,
)

/*
 * ARGV: from where, up to where, ids and marks (batch-format.ts). Answers the offset that holds each id afterwards, or 0
 * when marks are not complete up to where they begin.
 */
export const claimMarksScript = createScript(
  openPartition,
  markedOffset,
  `if math.max(tonumber(fence), marked) < tonumber(ARGV[1]) then return 0 end`,
  writePartition,
  inChunks,
  setMarks,
  readMarkOffsets,
  `
begin()
setMissingMarks(cmsgpack.unpack(ARGV[4]))
finish('marked', laterMarked(ARGV[2]))
return readMarks(cmsgpack.unpack(ARGV[3]))
`,
)
