import { openPartition } from './partition.ts'
import { createScript } from './script.ts'
import { findWindow } from './windows.ts'

/*
 * Reads the counter of an entry as alternating fields and amounts. If it has buckets, `l<id>` and the name of the form follow for each
 * bucket spec that the entry lists (bucket-forms.ts). That is written out where it is needed, because creating functions for it would
 * cost every read a part of a microsecond.
 */
const readCounter = (entry: string, counter: string): string => `
  local fields = call('HGETALL', counted .. 'counter:' .. ${counter})
  if hasForms then
    for at = 1, #fields, 2 do
      if string.byte(fields[at]) == 110 then
        ${findWindow}
        for _, form in ipairs(formsIn(call('GET', data .. 'windows:' .. ${entry}) or '')) do
          for _, id in ipairs(form.ids) do
            fields[#fields + 1] = 'l' .. id
            fields[#fields + 1] = form.name
          end
        end
        break
      end
    end
  end`

/* ARGV: per entry its name and the name of a counter. Returns the fence, and per entry the document and the counter. */
export const readEntriesScript = createScript(
  openPartition,
  `
local views, hasForms = {}, head[6] ~= '0'
for i = 1, #ARGV, 2 do
  views[i] = call('GET', data .. 'entry:' .. ARGV[i])
  ${readCounter('ARGV[i]', 'ARGV[i + 1]')}
  views[i + 1] = fields
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
  `
local views, i, hasForms = {}, 1, head[6] ~= '0'
while i <= #ARGV do
  local name, last = ARGV[i], i + 1 + ARGV[i + 1]
  views[#views + 1] = call('GET', data .. 'entry:' .. name)
  for j = i + 2, last do
    ${readCounter('name', 'ARGV[j]')}
    views[#views + 1] = fields
  end
  i = last + 1
end
return { fence, views }
`,
)
