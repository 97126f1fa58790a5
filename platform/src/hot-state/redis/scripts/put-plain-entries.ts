import { openPartition, openShadow, writePartition } from './partition.ts'
import { createScript } from './script.ts'
import { findWindow } from './windows.ts'

/*
 * ARGV, for each entry: subject, scope, document, first windows, later windows, when the first one ends
 * (windows-format.ts). Answers the places, counted from 1, of the entries that were not taken: those that putEntry must
 * compare with what is there, and all that come after one of the same subject.
 *
 * Taken are entries that are new and for which no slots wait, and those whose windows are there as they come: nothing is
 * to be folded, so nobody has to look into the windows. Nearly all are of these kinds.
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
    if firstEnd ~= '' and isWaitedFor(subject, scope) then return false end
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
