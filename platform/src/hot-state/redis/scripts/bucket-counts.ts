import { futureBucketsMax, testClockAheadSeconds } from '../../buckets.ts'

/*
 * Buckets are fields of the counter of their series: `b<form>/<number>` has the amount, and `n<form>` the oldest and the newest
 * number that may have a field, so that old ones are deleted without a search.
 */
export const dropBuckets = `
local function boundsOf(key, form)
  local bounds = call('HGET', key, 'n' .. form)
  if not bounds then return end
  local oldest, newest = string.match(bounds, '^(%-?%d+) (%-?%d+)$')
  return tonumber(oldest), tonumber(newest)
end
local function bucketField(form, bucket)
  return string.format('b%s/%.0f', form, bucket)
end
local function dropBuckets(key, form, from, to)
  local fields = {}
  for bucket = from, to do
    local field = bucketField(form, bucket)
    fields[#fields + 1] = field
    fields[#fields + 1] = '^' .. field
  end
  if #fields > 0 then call('HDEL', key, unpack(fields)) end
end
`

/*
 * Sums usage by bucket before it is written, with one addition per bucket and batch. A Lua number is exact below 2^53, so larger
 * amounts are kept apart. `addToBucket` takes an amount as `add` does. `writeBuckets` adds the sums and deletes buckets that are
 * no longer kept.
 */
export const addToBuckets = `
${dropBuckets}
local nowSecond, pending = nil, {}
local function secondNow()
  nowSecond = nowSecond or tonumber(call('TIME')[1])
  return nowSecond
end
local function currentBucket(form)
  return math.floor((secondNow() - form.offset) / form.seconds)
end
local function pendingBuckets(name, series, form)
  local key = counted .. 'counter:' .. name .. series
  local ofKey = pending[key]
  if not ofKey then
    ofKey = { seriesKey = counted .. 'series:' .. name, series = series, forms = {} }
    pending[key] = ofKey
  end
  local list = ofKey.forms[form.name]
  if not list then
    list = { current = currentBucket(form), kept = form.kept, oldest = math.huge, newest = -math.huge, sums = {}, large = {} }
    ofKey.forms[form.name] = list
  end
  return list
end
local function addToBucket(name, series, form, second, amount)
  local list = pendingBuckets(name, series, form)
  local bucket = math.floor((second - form.offset) / form.seconds)
  if second - secondNow() > ${testClockAheadSeconds} then list.current = math.max(list.current, bucket) end
  if bucket <= list.current - form.kept then return end
  bucket = math.min(bucket, list.current + ${futureBucketsMax})
  list.oldest, list.newest = math.min(list.oldest, bucket), math.max(list.newest, bucket)
  if type(amount) == 'table' or #amount > 15 then
    list.large[#list.large + 1] = { bucket, amount }
    return
  end
  local sum = (list.sums[bucket] or 0) + tonumber(amount)
  if sum >= 8e15 or sum <= -8e15 then
    list.large[#list.large + 1] = { bucket, string.format('%.0f', sum) }
    sum = nil
  end
  list.sums[bucket] = sum
end
local function writeList(key, form, list, ofKey)
  local oldest, newest, keptFrom = list.oldest, list.newest, list.current - list.kept + 1
  local storedOldest, storedNewest = boundsOf(key, form)
  if storedOldest then
    dropBuckets(key, form, storedOldest, math.min(storedNewest, keptFrom - 1))
    if storedNewest >= keptFrom then
      oldest = math.min(oldest, math.max(storedOldest, keptFrom))
      newest = math.max(newest, storedNewest)
    end
  elseif oldest <= newest then
    call('SADD', ofKey.seriesKey, ofKey.series)
  end
  for bucket, sum in pairs(list.sums) do add(key, bucketField(form, bucket), string.format('%.0f', sum)) end
  for _, each in ipairs(list.large) do add(key, bucketField(form, each[1]), each[2]) end
  if oldest <= newest then
    call('HSET', key, 'n' .. form, string.format('%.0f %.0f', oldest, newest))
  elseif storedOldest then
    call('HDEL', key, 'n' .. form)
  end
end
local function writeBuckets()
  for key, ofKey in pairs(pending) do
    for form, list in pairs(ofKey.forms) do writeList(key, form, list, ofKey) end
  end
  pending = {}
end
`
