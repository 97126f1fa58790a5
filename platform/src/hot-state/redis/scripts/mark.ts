import { readMarkOffsets, setMarks } from './marks.ts'
import { inChunks, openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/* ARGV: ids (batch-format.ts). Answers the offset of each, or nothing for an id without a mark. */
export const readMarksScript = createScript(
  openPartition,
  readMarkOffsets,
  `return readMarks(cmsgpack.unpack(ARGV[1]))`,
)

/* ARGV: ids and marks (batch-format.ts). Answers the offset that holds each id afterwards. */
export const claimMarksScript = createScript(
  openPartition,
  writePartition,
  inChunks,
  setMarks,
  readMarkOffsets,
  `
begin()
setMissingMarks(cmsgpack.unpack(ARGV[2]))
finish()
return readMarks(cmsgpack.unpack(ARGV[1]))
`,
)
