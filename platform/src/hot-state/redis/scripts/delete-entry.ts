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
local now, forms = tonumber(call('TIME')[1]), formsIn(stored)
for i, form in ipairs(forms) do forms[i] = withdrawn(form, now) end
local left = { packHeader(0, 0, forms) }
eachWindow(stored, function(id, from, to)
  left[#left + 1] = packWindow(id, from, to, 0)
end)
begin()
storeWindows(subject, scope, table.concat(left))
call('DEL', data .. 'entry:' .. subject .. scope)
finish()
`,
)
