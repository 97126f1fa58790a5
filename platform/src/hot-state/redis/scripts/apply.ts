import { addAmounts } from './amounts.ts'
import { markNames, setMarks } from './marks.ts'
import { inChunks, openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { addToSlots } from './slots.ts'
import { findWindow } from './windows.ts'

/*
 * ARGV: expected fence, next fence, increments and marks (see batch-format.ts), channel.
 * Answers 1, or 0 when the fence is elsewhere.
 */
export const applyScript = createScript(
  openPartition,
  `if fence ~= ARGV[1] then return 0 end`,
  writePartition,
  inChunks,
  addAmounts,
  findWindow,
  addToSlots,
  markNames,
  setMarks,
  `
local function count(subject, scope, series, field, amount)
  if add(data .. 'counter:' .. subject .. scope .. series, field, amount) then
    call('SADD', data .. 'series:' .. subject .. scope, series)
  end
end

local waiting = {}
local minutes
local function wait(place, series, second, amount)
  local minute, name = addToSlot(place, series, second, amount)
  minutes[#minutes + 1] = minute
  minutes[#minutes + 1] = name
end

local function countScoped(subject, scope, ofScope, windows)
  for i = 2, #ofScope do
    local series = ofScope[i]
    for j = 2, #series, 2 do
      local id = windows and fittingWindow(windows, series[j])
      if id then count(subject, scope, series[1], 's' .. id, series[j + 1])
      else wait(subject .. scope, series[1], series[j], series[j + 1]) end
    end
  end
end

local function countUnscoped(subject, scope, ofScope, records)
  for i = 2, #ofScope do
    local series = ofScope[i]
    for j = 2, #series, 2 do
      for r = 1, #records, 2 do
        local id = fittingWindow(records[r + 1], series[j])
        if id then count(subject, records[r], series[1], 'u' .. id, series[j + 1]) end
      end
      wait(subject .. scope, series[1], series[j], series[j + 1])
    end
  end
end

begin()
for _, increments in ipairs(cmsgpack.unpack(ARGV[3])) do
  local subject = increments[1]
  local key = data .. 'windows:' .. subject
  for i = 2, #increments do
    local scope = increments[i][1]
    minutes = {}
    if scope == '0:' then countUnscoped(subject, scope, increments[i], call('HGETALL', key))
    else countScoped(subject, scope, increments[i], call('HGET', key, scope)) end
    if #minutes > 0 then
      waiting[#waiting + 1] = subject .. scope
      inChunks(minutes, function(first, last)
        call('ZADD', data .. 'slots:' .. subject .. scope, unpack(minutes, first, last))
      end)
    end
  end
end
inChunks(waiting, function(first, last)
  call('SADD', data .. 'waiting', unpack(waiting, first, last))
end)
setMissingMarks(cmsgpack.unpack(ARGV[4]))
finish(ARGV[2])
call('PUBLISH', ARGV[5], '')
return 1
`,
)
