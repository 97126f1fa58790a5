import { addAmounts } from './amounts.ts'
import { dropBuckets } from './bucket-counts.ts'
import { exactSums } from './exact-sums.ts'
import { changeHeld, readPlaces, reduceReservations } from './kept-reservations.ts'
import { readMarkOffsets } from './marks.ts'
import { openPartition, writePartition } from './partition.ts'
import { createScript } from './script.ts'

/** Number of arguments of one place. */
export const placeArguments = 15

/* The further caps of a request. */
const furtherCaps = `
${dropBuckets}
-- Returns the amounts of the buckets of a form from one on, in each counter, as takenAt does.
local function takenSince(place, series, counters, form, from)
  local taken = {}
  for _, counter in ipairs(counters) do
    local key = counted .. 'counter:' .. counter
    local oldest, newest = boundsOf(key, form)
    local fields = {}
    for bucket = math.max(from, oldest or 0), newest or -math.huge do
      fields[#fields + 1] = bucketField(form, bucket)
      fields[#fields + 1] = '^' .. fields[#fields]
    end
    if #fields > 0 then take(taken, key, unpack(fields)) end
  end
  return takeReserved(taken, place, series)
end
local function takenUnder(place, cap)
  local series, _, kind, name, from, counters = unpack(cap)
  if kind == 'window' then return takenAt(place, series, counters, name) end
  return takenSince(place, series, counters, name, from)
end
local function hasRoomFurther(place, freedUnits, freedSeries)
  for i, cap in ipairs(place.caps) do
    local series, room = cap[1], cap[2]
    local units = place.held[series]
    if units then
      local freed = freedUnits and unitsOn(freedUnits, freedSeries, series)
      if not fits(units, room, place.taken[i + 1], freed) then return false end
    end
  end
  return true
end
`

/*
 * `fits` returns whether units fit into the room that a cap leaves, and the room that is left as text, nil below zero. Whole numbers
 * below 2^53 are exact in Lua and are summed as such, which costs a tenth.
 */
const roomLeft = `
local exactMax = 4e15
local function smallRoom(room, taken, freed)
  local left = tonumber(room)
  if freed then
    freed = tonumber(freed)
    if freed > exactMax then return end
    left = left + freed
  end
  if left > exactMax then return end
  for i = 1, #taken, 2 do
    local amount = tonumber(taken[i])
    if amount > exactMax or left < -exactMax or taken[i + 1] ~= '0' then return end
    left = left - amount
  end
  return left
end
function fits(units, room, taken, freed)
  local asked = tonumber(units)
  local small = asked <= exactMax and smallRoom(room, taken, freed)
  if small then return small >= asked, small >= 0 and whole(small) or nil end
  return more().fitsExactly(units, room, taken, freed)
end
`

const exactRoom = `
${exactSums}
local function fitsExactly(units, room, taken, freed)
  local left = {}
  addToSum(left, room, '1')
  if freed then addToSum(left, freed, '1') end
  for i = 1, #taken, 2 do
    if taken[i] ~= '0' then addToSum(left, taken[i], '-1') end
    if taken[i + 1] ~= '0' then addToSum(left, taken[i + 1], '-' .. unit) end
  end
  local rest = sumText(left)
  addToSum(left, units, '-1')
  return sumText(left) ~= nil, rest
end
`

/*
 * Functions that most requests do not need: they are made when the first one is called, because making all of them would cost as much
 * as a command.
 */
const more = `
local fits, made
local function makeMore()
${changeHeld}
${exactRoom}
${reduceReservations}
${furtherCaps}
  return {
    unitsOn = unitsOn, mayMissUsage = mayMissUsage, addHeld = addHeld, isHeld = isHeld, forget = forget,
    fitsExactly = fitsExactly, reduceReservation = reduceReservation,
    takenUnder = takenUnder, hasRoomFurther = hasRoomFurther,
  }
end
local function more()
  made = made or makeMore()
  return made
end
`

/*
 * `openRequest` reads and checks a request, and `reserveOpened` reserves for it after `dropAllExpired`. Its places are described by
 * the arguments from `first` to `last`: subject and scope, units, room left by the cap after usage elsewhere ('' for no cap), required offset of the counters, maximum number of reservations, series, window,
 * names of the counters, other partitions with the offsets they were read at, document of the entry ('' for none), 'all' or 'rest'
 * of the units, 'first' if usage is reserved before it is recorded, id of the reservation that these units replace ('' for none),
 * 'rest' if that one keeps its rest, and units of several series with further caps ('' for none; packBySeries).
 *
 * `reserveOpened` returns the outcome, and for each place the used and reserved amounts (takenAt) and those of each further cap; then
 * the units of the first place, the expiry, and whether the reservation is new.
 */
const reserveOnce = `
local runOfServer
local function placeAt(i)
  local place = {
    name = ARGV[i], units = ARGV[i + 1], room = ARGV[i + 2], isBehind = tonumber(fence) < tonumber(ARGV[i + 3]),
    keptMax = tonumber(ARGV[i + 4]), series = ARGV[i + 5], window = ARGV[i + 6], counters = cmsgpack.unpack(ARGV[i + 7]),
    seen = ARGV[i + 8], document = ARGV[i + 9], takes = ARGV[i + 10], isFirst = ARGV[i + 11] == 'first',
    replaces = ARGV[i + 12], keepsRest = ARGV[i + 13] == 'rest', heldText = '',
  }
  if ARGV[i + 14] ~= '' then
    place.heldText, place.held, place.caps = unpack(cmsgpack.unpack(ARGV[i + 14]))
  end
  return place
end
local function takenOf(place)
  local taken = { takenAt(place.name, place.series, place.counters, place.window) }
  if not place.caps then return taken end
  for i, cap in ipairs(place.caps) do taken[i + 1] = more().takenUnder(place.name, cap) end
  return taken
end
-- Reads the amounts again after a reservation was made. Only the reserved ones can have changed.
local function takenAfter(place)
  if place.caps then return takenOf(place) end
  local taken = place.taken[1]
  for i = 1, 4 do taken[#taken] = nil end
  return { takeReserved(taken, place.name, place.series) }
end
local function isOutdated(place)
  if (call('GET', data .. 'entry:' .. place.name) or '') ~= place.document then return true end
  if place.seen == '' then return false end
  local seen = cmsgpack.unpack(place.seen)
  for i = 1, #seen, 2 do
    local offset = call('HGET', data .. 'reserved:' .. place.name, 'p' .. seen[i])
    if offset and tonumber(seen[i + 1]) < tonumber(offset) then return true end
  end
  return false
end
-- Returns the units and series of the reservation that is replaced, if it is held.
local function heldByReplaced(place)
  if place.replaces == '' then return end
  local units, _, isUsed, series = reservationAt(place.name, place.replaces)
  if units and not isUsed then return units, series end
end
-- Returns why nothing can be reserved at the place; nil if it can be, or already is.
local function refusal(place, id, mark)
  local units, knownExpiry = reservationAt(place.name, id)
  if units then
    place.units, place.knownExpiry = units, knownExpiry
    return
  end
  if place.isFirst and readMarks(cmsgpack.unpack(mark))[1] then return 'denied' end
  local freedUnits, freedSeries = heldByReplaced(place)
  local freed = freedUnits and more().unitsOn(freedUnits, freedSeries, place.series)
  place.isReplacing = freedUnits ~= nil
  local dropped = place.isReplacing and not place.keepsRest and 1 or 0
  if call('ZCARD', data .. 'expiries:' .. place.name) - dropped >= place.keptMax then return 'full' end
  if place.room ~= '' then
    local isFitting, rest = fits(place.units, place.room, place.taken[1], freed)
    if not isFitting then
      if place.takes ~= 'rest' or not rest or rest == '0' then return 'denied' end
      place.units = rest
    end
  end
  if place.caps and not more().hasRoomFurther(place, freedUnits, freedSeries) then return 'denied' end
end
local function replace(place)
  if not place.keepsRest then return more().forget(place.name, place.replaces) end
  local used = place.held or { [place.series] = place.units }
  more().reduceReservation(place.name, place.replaces, place.units, used, true)
end
local function hold(place, id, expiry, created)
  if not begun then begin() end
  if place.isReplacing then replace(place) end
  local held, reserved = data .. 'held:' .. place.name, data .. 'reserved:' .. place.name
  local text = place.units .. ' ' .. expiry .. place.heldText
  if place.isFirst then
    call('HSET', held, id, text)
    call('HSET', reserved, 'run', runOfServer)
  else
    call('HSET', held, id, text, '@' .. id, created)
  end
  call('ZADD', data .. 'expiries:' .. place.name, expiry, id)
  call('ZADD', data .. 'reserving', 'GT', expiry, place.name)
  if place.heldText == '' then add(reserved, 'total', place.units)
  else more().addHeld(place.name, place.units, place.heldText) end
  place.taken = takenAfter(place)
end
-- Returns the request, or nil if it must wait. Nothing is written before all requests of a step are opened.
local openedPlaces = {}
local function openRequest(id, ttl, droppedMax, mark, first, last)
  local places, asksFirst = {}, false
  for i = first, last, ${placeArguments} do
    local place = placeAt(i)
    if place.isBehind and not place.isFirst then return end
    asksFirst = asksFirst or place.isFirst
    places[#places + 1] = place
  end
  for _, place in ipairs(places) do
    local opened = openedPlaces[place.name]
    -- The requests of a batch have the same document, but each may have read other partitions at another time.
    if not (opened and opened.seen == place.seen) and isOutdated(place) then return end
  end
  if asksFirst and not runOfServer then runOfServer = runId() end
  local now = nowMs()
  for _, place in ipairs(places) do
    local opened = openedPlaces[place.name] or { expired = expiredAt(place.name, now, droppedMax) }
    if place.isBehind and more().mayMissUsage(place.name, opened.expired, runOfServer) then return end
    opened.seen = place.seen
    openedPlaces[place.name] = opened
  end
  return { id = id, places = places, now = now, ttl = tonumber(ttl), droppedMax = tonumber(droppedMax), mark = mark }
end
local function dropExpired(place)
  local expired = openedPlaces[place.name].expired
  openedPlaces[place.name].expired = {}
  if #expired > 0 and not begun then begin() end
  for _, each in ipairs(expired) do more().forget(place.name, each) end
  return #expired
end
-- Drops what expired at the places of a request. Returns false if there may be more than one step drops.
local function dropAllExpired(request)
  local areAllDropped = true
  for _, place in ipairs(request.places) do
    if dropExpired(place) >= request.droppedMax then areAllDropped = false end
  end
  return areAllDropped
end
local function reserveOpened(request)
  local id, places, now = request.id, request.places, request.now
  local expiry, isNew = whole(now + request.ttl), false
  for _, place in ipairs(places) do place.taken = takenOf(place) end
  local outcome = refusal(places[1], id, request.mark)
  if places[1].knownExpiry then
    expiry = places[1].knownExpiry
  elseif not outcome then
    outcome = places[2] and refusal(places[2], id, request.mark)
    isNew = not outcome
    for _, place in ipairs(places) do
      if isNew and not place.knownExpiry then hold(place, id, expiry, whole(now)) end
    end
  end
  local taken = {}
  for _, place in ipairs(places) do taken[#taken + 1] = place.taken end
  return { outcome or 'admitted', taken, places[1].units, expiry, isNew and '1' or '' }
end
`

const reserving = [
  openPartition,
  writePartition,
  addAmounts,
  readPlaces,
  readMarkOffsets,
  more,
  roomLeft,
  reserveOnce,
]

/* ARGV: id, lifetime in milliseconds, maximum expired reservations to drop per place, id of its mark, and the places. */
export const reserveScript = createScript(
  ...reserving,
  `
local request = openRequest(ARGV[1], ARGV[2], ARGV[3], ARGV[4], 5, #ARGV)
if not request then return { 'behind' } end
local answer = dropAllExpired(request) and reserveOpened(request) or { 'again' }
if begun then finish() end
return answer
`,
)

/*
 * ARGV: 'each' or 'all-or-none', and for each request the number of its places and the arguments of reserveScript. Returns the answer
 * for each. An answer 'behind' or 'again' is the only one.
 */
export const reserveBatchScript = createScript(
  ...reserving,
  `
local requests, i = {}, 2
while i <= #ARGV do
  local last = i + 4 + ${placeArguments} * tonumber(ARGV[i])
  local request = openRequest(ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], i + 5, last)
  if not request then return { { 'behind' } } end
  requests[#requests + 1] = request
  i = last + 1
end
-- Nothing is held before all that expired is dropped. A step that is repeated would take its own new reservations for known ones.
for _, request in ipairs(requests) do
  if not dropAllExpired(request) then
    if begun then finish() end
    return { { 'again' } }
  end
end
local answers, isRefused = {}, false
for _, request in ipairs(requests) do
  local answer = reserveOpened(request)
  answers[#answers + 1] = answer
  isRefused = isRefused or answer[1] ~= 'admitted'
end
if ARGV[1] == 'all-or-none' and isRefused then
  for index, answer in ipairs(answers) do
    local request = requests[index]
    for _, place in ipairs(request.places) do
      if answer[5] == '1' and more().isHeld(place.name, request.id) then more().forget(place.name, request.id) end
    end
  end
end
if begun then finish() end
return answers
`,
)
