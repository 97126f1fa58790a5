/*
 * A mark is a field in one of 65,536 small hashes: two bytes of its id select the hash, the other 14 are the field. Redis packs
 * small hashes tightly; in one large hash a mark would need more than twice the memory. A list per minute of receive time holds the
 * ids, for the sweep.
 */
export const setMarks = `
local function setMissingMarks(minutes)
  local marksKey = data .. 'mark:'
  for _, marks in ipairs(minutes) do
    local minute, new = marks[1], {}
    for i = 2, #marks, 3 do
      local bucket, field = marks[i], marks[i + 1]
      if call('HSETNX', marksKey .. bucket, field, marks[i + 2]) == 1 then new[#new + 1] = bucket .. field end
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
  local marksKey, offsets = data .. 'mark:', {}
  for i = 1, #ids, 2 do offsets[#offsets + 1] = call('HGET', marksKey .. ids[i], ids[i + 1]) end
  return offsets
end
`

/* The head stores in `marked` the offset up to which marks are complete, if that is beyond the fence. It never decreases. */
export const markedOffset = `
local marked = not isEmpty and tonumber(call('HGET', partition, 'marked') or 0) or 0
local function laterMarked(offset)
  return string.format('%.0f', math.max(marked, tonumber(offset)))
end
`
