import { openPartition } from './partition.ts'
import { createScript } from './script.ts'

/* ARGV: the entry's name, the counter's name. Answers document, amounts by field and fence. */
export const readEntryScript = createScript(
  openPartition,
  `
local document = call('GET', data .. 'entry:' .. ARGV[1])
return { document, call('HGETALL', data .. 'counter:' .. ARGV[2]), fence }
`,
)

/* ARGV: the entry's name. */
export const readEntryDocumentScript = createScript(
  openPartition,
  `return call('GET', data .. 'entry:' .. ARGV[1])`,
)
