import { openPartition } from './partition.ts'
import { createScript } from './script.ts'

/*
 * ARGV: per entry its name and that of a counter. Answers the fence, and per entry the document and what the counter has:
 * fields and amounts in turn.
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
