import { openPartition, openShadow, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { findWindow } from './windows.ts'

/*
 * ARGV, for each entry: subject, scope, document, first windows, later windows, end of the first window (windows-format.ts).
 * Returns the positions, counted from 1, of the entries that were not published: those that putEntry must compare with the existing
 * ones, and all later ones of the same subject.
 *
 * Published are new entries without slots, and entries whose windows are unchanged: nothing must be folded, so the windows need not
 * be decoded. Nearly all entries are of these kinds.
 */
export const putPlainEntriesScript = createScript(
  openPartition,
  openShadow,
  writePartition,
  findWindow,
  `
local doesAnyWait = {}
local function hasSlots(place)
  local waiting = counted .. 'waiting'
  if doesAnyWait[counted] == nil then doesAnyWait[counted] = call('EXISTS', waiting) == 1 end
  return doesAnyWait[counted] and call('SISMEMBER', waiting, place) == 1
end
local function isWaitedFor(subject, scope)
  local isFound = false
  inEachCounts(function()
    isFound = isFound or hasSlots(subject .. scope) or hasSlots(subject .. '0:')
  end)
  return isFound
end

local function putNew(subject, scope, document, first, later, firstEnd)
  local name = subject .. scope
  if windowsStart(first) > windowsAt then call('HSET', partition, 'forms', '1') end
  call('SET', data .. 'windows:' .. name, first)
  if later ~= '' then call('SET', data .. 'later:' .. name, later) end
  call('SADD', data .. 'scopes:' .. subject, scope)
  if firstEnd ~= '' then call('ZADD', data .. 'ends', firstEnd, name) end
  call('SET', data .. 'entry:' .. name, document)
end

local function hasSameWindows(name, stored, first, later)
  return string.sub(stored, windowsAt - 1) == string.sub(first, windowsAt - 1)
    and (call('GET', data .. 'later:' .. name) or '') == later
end

local function put(subject, scope, document, first, later, firstEnd)
  local name = subject .. scope
  local stored = call('GET', data .. 'windows:' .. name)
  if not stored then
    local isFolded = firstEnd ~= '' or windowsStart(first) > windowsAt
    if isFolded and isWaitedFor(subject, scope) then return false end
    if not begun then begin() end
    putNew(subject, scope, document, first, later, firstEnd)
    return true
  end
  if not hasSameWindows(name, stored, first, later) then return false end
  if struct.unpack('<d', stored) <= struct.unpack('<d', first) then
    if not begun then begin() end
    call('SET', data .. 'windows:' .. name, first)
    call('SET', data .. 'entry:' .. name, document)
  end
  return true
end

local left, leftSubjects = {}, {}
for i = 1, #ARGV, 6 do
  local subject = ARGV[i]
  if leftSubjects[subject] or not put(unpack(ARGV, i, i + 5)) then
    leftSubjects[subject] = true
    left[#left + 1] = (i + 5) / 6
  end
end
if begun then finish() end
return left
`,
)
