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
      local id = windows and fittingWindow(subject .. scope, windows, series[j])
      if id then count(subject, scope, series[1], 's' .. id, series[j + 1])
      else wait(subject .. scope, series[1], series[j], series[j + 1]) end
    end
  end
end

local function countUnscoped(subject, scope, ofScope)
  local scopes, windows = call('SMEMBERS', data .. 'scopes:' .. subject), {}
  for i, each in ipairs(scopes) do windows[i] = call('GET', data .. 'windows:' .. subject .. each) end
  for i = 2, #ofScope do
    local series = ofScope[i]
    for j = 2, #series, 2 do
      for k, each in ipairs(scopes) do
        local id = fittingWindow(subject .. each, windows[k], series[j])
        if id then count(subject, each, series[1], 'u' .. id, series[j + 1]) end
      end
      wait(subject .. scope, series[1], series[j], series[j + 1])
    end
  end
end

local batch = cmsgpack.unpack(ARGV[3])
local keys, windows = {}, {}
for _, increments in ipairs(batch) do
  for i = 2, #increments do
    keys[#keys + 1] = data .. 'windows:' .. increments[1] .. increments[i][1]
  end
end
inChunks(keys, function(first, last)
  for i, each in ipairs(call('MGET', unpack(keys, first, last))) do windows[first + i - 1] = each end
end)

begin()
local place = 0
for _, increments in ipairs(batch) do
  local subject = increments[1]
  for i = 2, #increments do
    local scope = increments[i][1]
    minutes = {}
    place = place + 1
    if scope == '0:' then countUnscoped(subject, scope, increments[i])
    else countScoped(subject, scope, increments[i], windows[place]) end
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
