import { openPartition } from './partition.ts'
import { createScript } from './script.ts'

/* ARGV: names of entries. Returns the document of each, or false. */
export const readDocumentsScript = createScript(
  openPartition,
  `
local documents = {}
for i, name in ipairs(ARGV) do documents[i] = call('GET', data .. 'entry:' .. name) end
return documents
`,
)
