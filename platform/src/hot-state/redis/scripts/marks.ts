/*
 * A mark is a field of one of 65,536 small hashes, found by the first two bytes of its id: Redis packs small hashes
 * tightly. Per minute of receive time a list holds the ids that were marked, for the sweep.
 */
export const markNames = `
local function markKey(id)
  return data .. 'mark:' .. string.sub(id, 1, 2)
end
local function markField(id)
  return string.sub(id, 3)
end
`

export const setMarks = `
local function setMissingMarks(minutes)
  for _, marks in ipairs(minutes) do
    local minute, new = marks[1], {}
    for i = 2, #marks, 2 do
      local id = marks[i]
      if call('HSETNX', markKey(id), markField(id), marks[i + 1]) == 1 then new[#new + 1] = id end
    end
    if #new > 0 then
      inChunks(new, function(first, last)
        call('RPUSH', data .. 'marked:' .. minute, unpack(new, first, last))
      end)
      call('ZADD', data .. 'minutes', minute, minute)
    end
  end
end
`

export const readMarkOffsets = `
local function readMarks(ids)
  local offsets = {}
  for i, id in ipairs(ids) do offsets[i] = call('HGET', markKey(id), markField(id)) end
  return offsets
end
`
