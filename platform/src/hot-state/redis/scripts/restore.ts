import { addAmounts } from './amounts.ts'
import { countUses } from './count-uses.ts'
import { markedOffset, setMarks } from './marks.ts'
import { inChunks, openPartition, openShadow, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { addToSlots } from './slots.ts'
import { findWindow, rewriteWindows } from './windows.ts'

/* ARGV: token. The shadow's generation is the token, which nobody used before. */
export const beginRestoreScript = createScript(
  openPartition,
  openShadow,
  writePartition,
  `
begin()
if shadow then call('HSET', partition, 'stale', shadow) end
finish('shadow', ARGV[1], 'step', '0')
`,
)

/* The head shows what the holder of the token left: nobody has taken the restore over, or done this step. */
const refuseOthers = `
if shadow ~= ARGV[1] or nextStep ~= ARGV[2] then return 0 end
`

/*
 * ARGV: token, step, spans of one second as increments, longer ones, marks (batch-format.ts), up to where marks are
 * complete then. Answers the places of the spans that were not taken, counted from 1 in the order of the longer ones:
 * the cut ones, those outside. Or 0 when it is fenced.
 */
export const restoreScript = createScript(
  openPartition,
  openShadow,
  refuseOthers,
  writePartition,
  inChunks,
  addAmounts,
  findWindow,
  rewriteWindows,
  addToSlots,
  countUses,
  markedOffset,
  setMarks,
  `
counted = shadowed
local groups, longer = cmsgpack.unpack(ARGV[3]), cmsgpack.unpack(ARGV[4])

local function addListed(name, listed)
  eachWindow(readWindows(name) or '', function(id, from, to, isListed)
    if isListed == 1 then listed[#listed + 1] = { id = id, from = from, to = to } end
  end)
end
local function listedWindows(subject, scope)
  local listed = {}
  if scope ~= '0:' then
    addListed(subject .. scope, listed)
  else
    for _, each in ipairs(call('SMEMBERS', data .. 'scopes:' .. subject)) do
      addListed(subject .. each, listed)
    end
  end
  return listed
end

-- How many windows the time touches, and one of them.
local function touched(windows, from, last)
  local total, one = 0, nil
  for _, window in ipairs(windows) do
    if window.from <= last and from < window.to then total, one = total + 1, window end
  end
  return total, one
end

begin()
setMissingMarks(cmsgpack.unpack(ARGV[5]))
countUses(groups)
local place, cut, outside = 0, {}, {}
for _, group in ipairs(longer) do
  local subject, scope = group[1], group[2]
  local windows = listedWindows(subject, scope)
  for i = 3, #group, 4 do
    place = place + 1
    local series, from, last, amount = unpack(group, i, i + 3)
    local total, window = touched(windows, from, last)
    if total == 0 then
      outside[#outside + 1] = place
    elseif scope ~= '0:' and total == 1 and window.from <= from and last < window.to then
      addToCounter(subject .. scope, series, 's' .. window.id, amount)
    else
      cut[#cut + 1] = place
    end
  end
end
finish('step', string.format('%.0f', ARGV[2] + 1), 'marked', laterMarked(ARGV[6]))
return { cut, outside }
`,
)

/* ARGV: token, how many steps were added, next fence, channel. Answers 1, or 0 when it is fenced. */
export const finishRestoreScript = createScript(
  openPartition,
  openShadow,
  refuseOthers,
  writePartition,
  `
begin()
call('HDEL', partition, 'shadow', 'step')
finish('counts', shadow, 'fence', ARGV[3], 'stale', counts)
call('PUBLISH', ARGV[4], '')
return 1
`,
)
