import { firstWindowsMax } from '../windows-format.ts'
import { readForms, rewriteForms } from './bucket-forms.ts'

/*
 * The windows of an entry are packed text (windows-format.ts): a header with version, whether the entry is published, whether its
 * publication is unfinished, and its bucket forms if it has any (bucket-forms.ts); then per window its bounds, whether it is listed, and its id. Withdrawn windows follow the listed ones; they are
 * kept until the sweep has deleted their amounts.
 *
 * The text is split into two values: `windows` with the first few windows and `later` with the others. Entries are published for a
 * year ahead, and passing all of that to Lua would be half of the cost of counting one use.
 */
export const findWindow = `
local windowLayout, windowsAt, firstWindowsMax = '<ddBI4c0', 10, ${firstWindowsMax}
-- Returns the position of the first window.
local function windowsStart(windows)
  local flags = string.byte(windows, windowsAt - 1)
  if not flags or flags < 4 then return windowsAt end
  return windowsAt + 4 + struct.unpack('<I4', windows, windowsAt)
end
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
-- start: windowsStart of the first windows.
local function fittingWindow(name, firstWindows, start, second)
  local id, isLater = windowIn(firstWindows, start, second)
  if isLater then
    local later = call('GET', data .. 'later:' .. name)
    if later then id = windowIn(later, 1, second) end
  end
  return id
end
${readForms}`

export const rewriteWindows = `
${rewriteForms}
local function readWindows(name)
  local windows = call('GET', data .. 'windows:' .. name)
  return windows and windows .. (call('GET', data .. 'later:' .. name) or '')
end
local function isPublished(windows)
  return windows and string.byte(windows, windowsAt - 1) % 2 == 1
end
local function isUnfinished(windows)
  return windows and windows ~= '' and string.byte(windows, windowsAt - 1) % 4 >= 2
end
-- Returns the header of an entry during a publication. version: the published one, or false.
local function unfinishedHeader(version, forms)
  return packHeader(version or 0, version and 3 or 2, forms)
end
local function eachWindow(windows, act)
  local at = windowsStart(windows)
  while at <= #windows do
    local from, to, listed, id
    from, to, listed, id, at = struct.unpack(windowLayout, windows, at)
    act(id, from, to, listed, at)
  end
end
local function packWindow(id, from, to, listed)
  return struct.pack(windowLayout, from, to, listed, #id, id)
end
-- Deletes an entry that is not published and has no window and no form left; otherwise indexes the end of the window or
-- withdrawn form that the sweep forgets first.
-- During an unfinished publication the windows end too early, so they are not indexed.
local function storeWindows(subject, scope, windows)
  local name = subject .. scope
  local count, firstEnd, laterAt = 0, nil, #windows + 1
  eachWindow(windows, function(_, _, to, _, at)
    count = count + 1
    if count == firstWindowsMax then laterAt = at end
    if not firstEnd or to < firstEnd then firstEnd = to end
  end)
  local forms = formsIn(windows)
  for _, form in ipairs(forms) do
    local at = form.withdrawnAt
    if at > 0 and (not firstEnd or at < firstEnd) then firstEnd = at end
  end
  if count > 0 or #forms > 0 or isPublished(windows) then
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
