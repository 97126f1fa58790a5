import { openPartition } from './partition.ts'
import { createScript } from './script.ts'
import { findWindow } from './windows.ts'

/*
 * ARGV: per entry its name, a number of counters and the name of each. Returns the fence, and per entry the document; then per
 * counter alternating fields and amounts, and the ids and forms of the listed bucket specs (bucket-forms.ts), or false if the
 * counter has no buckets.
 */
export const readEntriesScript = createScript(
  openPartition,
  findWindow,
  `
local function hasBuckets(fields)
  for i = 1, #fields, 2 do
    if string.byte(fields[i]) == 110 then return true end
  end
end
local function listedSpecs(name)
  local listed = {}
  for _, form in ipairs(formsIn(call('GET', data .. 'windows:' .. name) or '')) do
    for _, id in ipairs(form.ids) do
      listed[#listed + 1] = id
      listed[#listed + 1] = form.name
    end
  end
  return listed
end
local views, i = {}, 1
while i <= #ARGV do
  local name, last, listed = ARGV[i], i + 1 + ARGV[i + 1], nil
  views[#views + 1] = call('GET', data .. 'entry:' .. name)
  for j = i + 2, last do
    local fields = call('HGETALL', counted .. 'counter:' .. ARGV[j])
    local isListed = hasBuckets(fields)
    if isListed then listed = listed or listedSpecs(name) end
    views[#views + 1] = fields
    views[#views + 1] = isListed and listed or false
  end
  i = last + 1
end
return { fence, views }
`,
)
