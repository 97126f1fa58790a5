import { openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { findWindow, rewriteWindows } from './windows.ts'

/* ARGV: subject, scope. */
export const deleteEntryScript = createScript(
  openPartition,
  writePartition,
  findWindow,
  rewriteWindows,
  `
local subject, scope = ARGV[1], ARGV[2]
local stored = readWindows(subject .. scope)
if not stored then return end
local withdrawn = { struct.pack('<dB', 0, 0) }
eachWindow(stored, function(id, from, to)
  withdrawn[#withdrawn + 1] = packWindow(id, from, to, 0)
end)
begin()
storeWindows(subject, scope, table.concat(withdrawn))
call('DEL', data .. 'entry:' .. subject .. scope)
finish()
`,
)
