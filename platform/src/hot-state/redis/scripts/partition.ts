/*
 * What every script of a partition begins with. KEYS[1] is the partition's head; every other name is made from it, so
 * all share its hash tag. `data` begins all names of the generation of entries and marks that the head
 * shows, and `counted` those of the counts in use.
 *
 * A head that is not there, or torn, stands for an empty partition under a name that nobody used before. Torn means
 * that only a part of some script's writes is there. Redis does not undo a script that fails half-way, and it has
 * another way to get there: a server that finds the end of its append-only file missing takes back the writes of the
 * last script, but leaves their beginning in the file, and does them when it loads the file once more. So each script
 * adds 1 to `begun` before its first write and sets `done` to the same number with its last: two that differ, now or
 * after any number of later scripts, tell of writes that were not meant to be there.
 */
export const openPartition = `
local call = redis.call
local partition = KEYS[1]
local head = call('HMGET', partition, 'fence', 'generation', 'begun', 'done', 'counts')
local fence, generation, counts = head[1], head[2], head[5]
local isEmpty = not generation or head[3] ~= head[4]
if isEmpty then
  local now = call('TIME')
  fence, generation = '0', string.format('%x', now[1] * 1000000 + now[2])
  counts = generation .. '-'
end
local data = partition .. ':' .. generation .. ':'
local counted = partition .. ':' .. counts .. ':'
`

/*
 * For scripts that need to know of a restore under way: its token, which is its shadow's generation, and its next step.
 * `inEachCounts` calls with `counted` for the counts in use and then, where there is one, for the shadow.
 */
export const openShadow = `
local shadow, nextStep = unpack(isEmpty and {} or call('HMGET', partition, 'shadow', 'step'))
local shadowed = shadow and partition .. ':' .. shadow .. ':'
local function inEachCounts(act)
  local inUse = counted
  act()
  if shadowed then
    counted = shadowed
    act()
    counted = inUse
  end
end
`

/*
 * `begin` comes before the first write of a script, `finish` with the last; it is handed what the head is to show then.
 * `stale` names what was given up last: the sweep looks for remains until it has seen all names since.
 */
export const writePartition = `
local begun
local function begin()
  if isEmpty then
    call('DEL', partition)
    call('HSET', partition, 'generation', generation, 'counts', counts, 'fence', fence, 'begun', '0', 'stale', generation)
  end
  begun = call('HINCRBY', partition, 'begun', '1')
end
local function finish(...)
  call('HSET', partition, 'done', string.format('%.0f', begun), ...)
end
`

/* Names are made of parts that tell their bytes ("3:abc"), so that none reaches into the next. */
export const splitNames = `
local function firstPart(name)
  local _, colon, bytes = string.find(name, '^(%d+):')
  local stop = colon + tonumber(bytes)
  return string.sub(name, 1, stop), string.sub(name, stop + 1)
end
`

/* Lua hands some 8,000 values to a call at most. `each` gets the places of the first and the last value of a chunk. */
export const inChunks = `
local function inChunks(values, each)
  for first = 1, #values, 4000 do
    each(first, math.min(first + 3999, #values))
  end
end
`
