/*
 * The beginning of every script of a partition. KEYS[1] is the head of the partition; every other name is derived from it, so all
 * share its hash tag. `data` is the prefix of all names of the current generation of entries and marks, and `counted` that of the
 * counts in use.
 *
 * `forms` of the head is '0' until an entry of the partition lists bucket forms, so that readers need not look for buckets among the
 * fields of counters. A head that an earlier release made has no such field, and its partition may have buckets.
 *
 * A missing or torn head means an empty partition with a name that was never used. A head is torn if only a part of some script's
 * writes exists. Redis does not roll back a script that fails. There is another cause: if a server finds the end of its append-only
 * file missing, it discards the writes of the last script but leaves their beginning in the file, and applies them when it loads
 * the file again. So each script increments `begun` before its first write, and sets `done` to the same number with its last one.
 * If the two differ, now or after any number of later scripts, there are unintended writes.
 */
export const openPartition = `
local call = redis.call
local partition = KEYS[1]
local head = call('HMGET', partition, 'fence', 'generation', 'begun', 'done', 'counts', 'forms')
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
 * For scripts that need the running restore: its token, which is the generation of its shadow, and its next step. `inEachCounts`
 * calls a function with `counted` set to the counts in use and then, if there is one, to the shadow.
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
 * `begin` must precede the first write of a script, and `finish` is its last write, with the fields that the head gets. `stale`
 * names the generation that was abandoned last: the sweep searches for its remains until it has visited all names.
 */
export const writePartition = `
local begun
local function begin()
  if isEmpty then
    call('DEL', partition)
    call('HSET', partition, 'generation', generation, 'counts', counts, 'fence', fence, 'begun', '0', 'stale', generation, 'forms', '0')
  end
  begun = call('HINCRBY', partition, 'begun', '1')
end
local function finish(...)
  call('HSET', partition, 'done', string.format('%.0f', begun), ...)
end
`

/* Names consist of parts with their length in bytes ("3:abc"), so that concatenated parts are unambiguous. */
export const splitNames = `
local function firstPart(name)
  local _, colon, bytes = string.find(name, '^(%d+):')
  local stop = colon + tonumber(bytes)
  return string.sub(name, 1, stop), string.sub(name, stop + 1)
end
`

/*
 * Lua passes at most about 8,000 values to a call. `each` is called with the positions of the first and the last value of each
 * chunk.
 */
export const inChunks = `
local function inChunks(values, each)
  for first = 1, #values, 4000 do
    each(first, math.min(first + 3999, #values))
  end
end
`
