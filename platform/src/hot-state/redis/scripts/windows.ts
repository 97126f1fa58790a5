/*
 * The windows of an entry are one packed text (windows-format.ts): version, whether the entry is published, then per
 * window its bounds, whether it is listed, and its id. Windows that were withdrawn stand behind those that are listed;
 * they are kept until the sweep has deleted what they counted.
 */
export const findWindow = `
local windowLayout, windowsAt = '<ddBI4c0', 10
local function fittingWindow(windows, second)
  local at = windowsAt
  while at <= #windows do
    local from, to, listed, id
    from, to, listed, id, at = struct.unpack(windowLayout, windows, at)
    if listed == 0 then return nil end
    if from <= second and second < to then return id end
  end
end
`

export const rewriteWindows = `
local function isPublished(windows)
  return windows and string.byte(windows, windowsAt - 1) == 1
end
local function eachWindow(windows, act)
  local at = windowsAt
  while at <= #windows do
    local from, to, listed, id
    from, to, listed, id, at = struct.unpack(windowLayout, windows, at)
    act(id, from, to, listed)
  end
end
local function packWindow(id, from, to, listed)
  return struct.pack(windowLayout, from, to, listed, #id, id)
end
-- Leaves no trace of an entry that is not published and has no window left; else notes when its first window ends.
local function storeWindows(subject, scope, windows)
  local firstEnd
  eachWindow(windows, function(_, _, to)
    if not firstEnd or to < firstEnd then firstEnd = to end
  end)
  if firstEnd or isPublished(windows) then
    call('HSET', data .. 'windows:' .. subject, scope, windows)
  else
    call('HDEL', data .. 'windows:' .. subject, scope)
  end
  if firstEnd then call('ZADD', data .. 'ends', string.format('%.17g', firstEnd), subject .. scope)
  else call('ZREM', data .. 'ends', subject .. scope) end
end
`
