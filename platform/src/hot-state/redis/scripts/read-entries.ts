import { openPartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * ARGV: per entry its name and the name of a counter. Returns the fence, and per entry the document and the counter, as alternating
 * fields and amounts.
 */
export const readEntriesScript = createScript(
  openPartition,
  `
local views = {}
for i = 1, #ARGV, 2 do
  views[i] = call('GET', data .. 'entry:' .. ARGV[i])
  views[i + 1] = call('HGETALL', counted .. 'counter:' .. ARGV[i + 1])
end
return { fence, views }
`,
)
