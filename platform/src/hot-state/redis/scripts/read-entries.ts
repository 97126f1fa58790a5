import { openPartition } from './partition.ts'
import { createScript } from './script.ts'
import { findWindow } from './windows.ts'

/*
 * Returns a counter as alternating fields and amounts. If it has buckets, `l<id>` and the name of the form follow for each bucket
 * spec that the entry lists (bucket-forms.ts).
 */
const readCounter = `
local byte = string.byte
local function addListed(fields, name)
  for _, form in ipairs(formsIn(call('GET', data .. 'windows:' .. name) or '')) do
    for _, id in ipairs(form.ids) do
      fields[#fields + 1] = 'l' .. id
      fields[#fields + 1] = form.name
    end
  end
end
local function readCounter(name, counter)
  local fields = call('HGETALL', counted .. 'counter:' .. counter)
  for i = 1, #fields, 2 do
    if byte(fields[i]) == 110 then
      addListed(fields, name)
      break
    end
  end
  return fields
end
`

/* ARGV: per entry its name and the name of a counter. Returns the fence, and per entry the document and the counter. */
export const readEntriesScript = createScript(
  openPartition,
  findWindow,
  readCounter,
  `
local views = {}
for i = 1, #ARGV, 2 do
  views[i] = call('GET', data .. 'entry:' .. ARGV[i])
  views[i + 1] = readCounter(ARGV[i], ARGV[i + 1])
end
return { fence, views }
`,
)

/*
 * ARGV: per entry its name, a number of counters and the name of each. Returns the fence, and per entry the document and then each
 * counter.
 */
export const readSeriesScript = createScript(
  openPartition,
  findWindow,
  readCounter,
  `
local views, i = {}, 1
while i <= #ARGV do
  local name, last = ARGV[i], i + 1 + ARGV[i + 1]
  views[#views + 1] = call('GET', data .. 'entry:' .. name)
  for j = i + 2, last do views[#views + 1] = readCounter(name, ARGV[j]) end
  i = last + 1
end
return { fence, views }
`,
)
