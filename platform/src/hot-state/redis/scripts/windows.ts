import { firstWindowsMax } from '../windows-format.ts'

/*
 * The windows of an entry are packed text (windows-format.ts): version, whether the entry is published and whether its publication
 * is unfinished, then per window its bounds, whether it is listed, and its id. Withdrawn windows follow the listed ones; they are
 * kept until the sweep has deleted their amounts.
 *
 * The text is split into two values: `windows` with the first few windows and `later` with the others. Entries are published for a
 * year ahead, and passing all of that to Lua would be half of the cost of counting one use.
 */
export const findWindow = `
local windowLayout, windowsAt, firstWindowsMax = '<ddBI4c0', 10, ${firstWindowsMax}
-- Returns the first listed window that contains the second. If there is none, returns whether later ones must be checked.
local function windowIn(windows, at, second)
  local count = 0
  while at <= #windows do
    local from, to, listed, id
    from, to, listed, id, at = struct.unpack(windowLayout, windows, at)
    if listed == 0 then return nil, false end
    if from <= second and second < to then return id end
    count = count + 1
  end
  return nil, count == firstWindowsMax
end
local function fittingWindow(name, firstWindows, second)
  local id, isLater = windowIn(firstWindows, windowsAt, second)
  if isLater then
    local later = call('GET', data .. 'later:' .. name)
    if later then id = windowIn(later, 1, second) end
  end
  return id
end
`

export const rewriteWindows = `
local function readWindows(name)
  local windows = call('GET', data .. 'windows:' .. name)
  return windows and windows .. (call('GET', data .. 'later:' .. name) or '')
end
local function isPublished(windows)
  return windows and string.byte(windows, windowsAt - 1) % 2 == 1
end
local function isUnfinished(windows)
  return windows and windows ~= '' and string.byte(windows, windowsAt - 1) >= 2
end
-- Returns the header of an entry during a publication. version: the published one, or false.
local function unfinishedHeader(version)
  return struct.pack('<dB', version or 0, version and 3 or 2)
end
local function eachWindow(windows, act)
  local at = windowsAt
  while at <= #windows do
    local from, to, listed, id
    from, to, listed, id, at = struct.unpack(windowLayout, windows, at)
    act(id, from, to, listed, at)
  end
end
local function packWindow(id, from, to, listed)
  return struct.pack(windowLayout, from, to, listed, #id, id)
end
-- Deletes an entry that is not published and has no window left; otherwise indexes the end of its first window.
-- During an unfinished publication the windows end too early, so they are not indexed.
local function storeWindows(subject, scope, windows)
  local name = subject .. scope
  local count, firstEnd, laterAt = 0, nil, #windows + 1
  eachWindow(windows, function(_, _, to, _, at)
    count = count + 1
    if count == firstWindowsMax then laterAt = at end
    if not firstEnd or to < firstEnd then firstEnd = to end
  end)
  if count > 0 or isPublished(windows) then
    call('SET', data .. 'windows:' .. name, string.sub(windows, 1, laterAt - 1))
    call('SADD', data .. 'scopes:' .. subject, scope)
  else
    call('DEL', data .. 'windows:' .. name)
    call('SREM', data .. 'scopes:' .. subject, scope)
  end
  if count > firstWindowsMax then
    call('SET', data .. 'later:' .. name, string.sub(windows, laterAt))
  else
    call('DEL', data .. 'later:' .. name)
  end
  if firstEnd and not isUnfinished(windows) then call('ZADD', data .. 'ends', string.format('%.17g', firstEnd), name)
  else call('ZREM', data .. 'ends', name) end
end
`
