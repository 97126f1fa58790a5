import { addAmounts } from './amounts.ts'
import { countUses } from './count-uses.ts'
import { markedOffset, setMarks } from './marks.ts'
import { inChunks, openPartition, openShadow, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { addToSlots, settledSlots } from './slots.ts'
import { findWindow, rewriteWindows } from './windows.ts'

/* ARGV: token. It is the generation of the shadow, and was never used before. */
export const beginRestoreScript = createScript(
  openPartition,
  openShadow,
  writePartition,
  `
begin()
if shadow then call('HSET', partition, 'stale', shadow) end
call('HDEL', partition, 'answer')
finish('shadow', ARGV[1], 'step', '0')
`,
)

/* Ends the script unless the token is current and this is the next step. */
const refuseOthers = `
if shadow ~= ARGV[1] or nextStep ~= ARGV[2] then return 0 end
`

/* Returns the stored answer if the last step is repeated, for callers that lost the answer. */
const repeatAnswer = `
local answered = shadow == ARGV[1] and nextStep == string.format('%.0f', ARGV[2] + 1) and call('HGET', partition, 'answer')
if answered then return cmsgpack.unpack(answered) end
`

/*
 * ARGV: token, step, spans of one second as increments, longer spans, marks (batch-format.ts), the offset up to which marks are
 * complete afterwards, the two limits of SlotLimits or '' for none. Returns the positions of the spans that were not taken, counted
 * from 1 in the order of the longer ones: the cut ones, then those outside. Returns 0 if it is fenced.
 */
export const restoreScript = createScript(
  openPartition,
  openShadow,
  repeatAnswer,
  refuseOthers,
  writePartition,
  inChunks,
  addAmounts,
  findWindow,
  rewriteWindows,
  addToSlots,
  settledSlots,
  countUses,
  markedOffset,
  setMarks,
  `
counted = shadowed
local groups, longer = cmsgpack.unpack(ARGV[3]), cmsgpack.unpack(ARGV[4])

local settledMinuteOf = ARGV[7] ~= '' and settledSlots(ARGV[7], ARGV[8]) or nil

-- Returns the entries that usage of a subject and scope counts for, with their listed windows.
local function entriesFor(subject, scope)
  local entries = {}
  local scopes = scope ~= '0:' and { scope } or call('SMEMBERS', data .. 'scopes:' .. subject)
  for i, each in ipairs(scopes) do
    local windows = readWindows(subject .. each) or ''
    local listed = {}
    eachWindow(windows, function(id, from, to, isListed)
      if isListed == 1 then listed[#listed + 1] = { id = id, from = from, to = to } end
    end)
    entries[i] = {
      name = subject .. each, listed = listed, isUnfinished = isUnfinished(windows), forms = formsIn(windows),
    }
  end
  return entries
end

-- Returns the window of each entry that contains the time, and whether the time cuts a window or one may still be extended.
local function windowsFor(entries, from, last)
  local fits, isCut = {}, false
  for _, entry in ipairs(entries) do
    if entry.isUnfinished then isCut = true end
    local touched = 0
    for _, window in ipairs(entry.listed) do
      if window.from <= last and from < window.to then
        touched = touched + 1
        if window.from > from or window.to <= last then isCut = true end
        fits[#fits + 1] = { name = entry.name, id = window.id }
      end
    end
    if touched > 1 then isCut = true end
  end
  return fits, isCut
end

-- Returns the forms of each entry whose kept buckets the time touches, and whether one bucket does not contain it.
local function formsFor(entries, from, last)
  local fits, isCut = {}, false
  for _, entry in ipairs(entries) do
    for _, form in ipairs(entry.forms) do
      local first, newest = math.floor((from - form.offset) / form.seconds), math.floor((last - form.offset) / form.seconds)
      if newest > currentBucket(form) - form.kept then
        if first ~= newest or form.filledTo < math.huge then isCut = true end
        fits[#fits + 1] = { name = entry.name, form = form }
      end
    end
  end
  return fits, isCut
end

begin()
setMissingMarks(cmsgpack.unpack(ARGV[5]))
countUses(groups, settledMinuteOf)
local place, cut, outside = 0, {}, {}
for _, group in ipairs(longer) do
  local subject, scope = group[1], group[2]
  local entries, isScoped = entriesFor(subject, scope), scope ~= '0:'
  local settledMinute = settledMinuteOf and settledMinuteOf(subject, scope) or -math.huge
  for i = 3, #group, 4 do
    place = place + 1
    local series, from, last, amount = unpack(group, i, i + 3)
    local fits, isCut = windowsFor(entries, from, last)
    local fitting, cutsBuckets = formsFor(entries, from, last)
    if isCut or cutsBuckets or (#fits == 0 and #fitting > 0) then
      cut[#cut + 1] = place
    elseif #fits == 0 then
      outside[#outside + 1] = place
    elseif not isScoped and math.floor(last / 60) >= settledMinute then
      cut[#cut + 1] = place
    else
      for _, fit in ipairs(fits) do
        addToCounter(fit.name, series, (isScoped and 's' or 'u') .. fit.id, amount)
      end
      for _, fit in ipairs(fitting) do addToBucket(fit.name, series, fit.form, from, amount) end
    end
  end
end
writeBuckets()
local answer = { cut, outside }
finish('step', string.format('%.0f', ARGV[2] + 1), 'marked', laterMarked(ARGV[6]), 'answer', cmsgpack.pack(answer))
return answer
`,
)

/* ARGV: token, number of added steps, next fence, channel. Returns 1, or 0 if it is fenced. */
export const finishRestoreScript = createScript(
  openPartition,
  openShadow,
  refuseOthers,
  writePartition,
  `
begin()
call('HDEL', partition, 'shadow', 'step', 'answer')
finish('counts', shadow, 'fence', ARGV[3], 'stale', counts)
call('PUBLISH', ARGV[4], '')
return 1
`,
)
