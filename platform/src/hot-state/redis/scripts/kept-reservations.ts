/*
 * Data of reservations, per (subject, scope):
 *
 *   held:      by id "<units> <expiry>", with a `u` after it once its usage was counted: then it no longer holds units,
 *              but is returned until it expires, so that a repeated request makes no second one. Then " <units>@<series>" for
 *              each series, if the units are not held on every series. A second field of the hash, '@' and the id, has the
 *              time of creation, except for reservations that are the ids of records
 *   expiries:  the ids, sorted by expiry
 *   reserved:  `total` and `^total`, the units held on every series (amounts.ts); `h<series>` and `^h<series>`, those held on
 *              one only; `p<partition>`, the offset below which that
 *              partition has counted usage of reservations that were kept here; `run`, the run id of the server when it
 *              was known that of usage which is reserved first nothing was on its way that is not reserved here. One that
 *              was started again, or has taken over, may have lost the last writes, and has another run id
 *
 * and `reserving`: each (subject, scope) that has any of it, sorted by when the last of it expires.
 *
 * `expiredAt` finds those that expired first, up to a limit. `mayMissUsage` returns whether usage that was reserved before it was
 * recorded may be in transit without a reservation. `takenAt` returns alternating amounts of 1 and of 2^62, of each
 * counter and then twice of reserved units: those on every series and those on this one. `takenUnder` returns the same for a further
 * cap (../reservations.ts).
 */
export const readPlaces = `
local function nowMs()
  local now = call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
local function whole(number)
  return string.format('%.0f', number)
end
local function reservationAt(place, id)
  local text = call('HGET', data .. 'held:' .. place, id)
  if not text then return end
  local units, expiry, used, series = string.match(text, '^(%d+) (%d+)(u?)(.*)$')
  return units, expiry, used == 'u', series
end
local function expiredAt(place, now, limit)
  return call('ZRANGEBYSCORE', data .. 'expiries:' .. place, '-inf', whole(now), 'LIMIT', '0', limit)
end
local function runId()
  return string.match(call('INFO', 'server'), 'run_id:(%x+)')
end
local function take(taken, key, ...)
  for _, amount in ipairs(call('HMGET', key, ...)) do taken[#taken + 1] = amount or '0' end
end
local function takeReserved(taken, place, series)
  take(taken, data .. 'reserved:' .. place, 'total', '^total', 'h' .. series, '^h' .. series)
  return taken
end
local function takenAt(place, series, counters, window)
  local taken, scoped, unscoped = {}, 's' .. window, 'u' .. window
  for _, counter in ipairs(counters) do
    take(taken, counted .. 'counter:' .. counter, scoped, '^' .. scoped, unscoped, '^' .. unscoped)
  end
  return takeReserved(taken, place, series)
end
`

export const readHeld = `
-- Calls act with each field of the reserved units that a reservation is part of, and its units there.
local function eachHeld(units, series, act)
  if series == '' then return act('total', units) end
  local at = 1
  while at <= #series do
    local _, colon, amount, bytes = string.find(series, '^ (%d+)@(%d+):', at)
    local last = colon + tonumber(bytes)
    act('h' .. bytes .. ':' .. string.sub(series, colon + 1, last), amount)
    at = last + 1
  end
end
-- Returns the units of a reservation that count against caps on this series, or nil if there are none.
local function unitsOn(units, series, onSeries)
  local found
  eachHeld(units, series, function(field, amount)
    if field == 'total' or field == 'h' .. onSeries then found = amount end
  end)
  return found
end
local function mayMissUsage(place, expired, run)
  if call('HGET', data .. 'reserved:' .. place, 'run') ~= run then return true end
  for _, id in ipairs(expired) do
    local _, _, isUsed = reservationAt(place, id)
    if not isUsed then return true end
  end
  return false
end
`

export const readReservations = `${readPlaces}${readHeld}`

export const changeHeld = `
${readHeld}
-- Adds the units of a reservation to those that the place holds.
local function addHeld(place, units, series)
  local reserved = data .. 'reserved:' .. place
  if series == '' then return add(reserved, 'total', units) end
  eachHeld(units, series, function(field, amount) add(reserved, field, amount) end)
end
local function giveBack(place, units, series)
  local reserved = data .. 'reserved:' .. place
  -- Redis takes no '-0'.
  if series == '' then return units ~= '0' and add(reserved, 'total', '-' .. units) end
  eachHeld(units, series, function(field, amount)
    if amount ~= '0' then add(reserved, field, '-' .. amount) end
  end)
end
local function isHeld(place, id)
  local units, expiry, isUsed = reservationAt(place, id)
  return units and not isUsed and tonumber(expiry) > nowMs()
end
local function drop(place, id, units, isUsed, series)
  if units and not isUsed then giveBack(place, units, series) end
  call('HDEL', data .. 'held:' .. place, id, '@' .. id)
  call('ZREM', data .. 'expiries:' .. place, id)
end
local function forget(place, id)
  local units, _, isUsed, series = reservationAt(place, id)
  drop(place, id, units, isUsed, series)
end
`

export const changeReservations = `${readPlaces}${changeHeld}`

/*
 * Subtracts used units from a reservation that is held: `onEvery` if it holds them on every series, otherwise those of `bySeries`.
 * Returns whether nothing is left of it; it is then dropped, or remembered as used. One that holds nothing here is not changed.
 * Requires exactSums.
 */
export const reduceReservations = `
local function reduceReservation(place, id, onEvery, bySeries, isDropped)
  local units, expiry, _, series = reservationAt(place, id)
  local restText, restUnits, heldAny, isLeft = '', nil, false, false
  eachHeld(units, series, function(field, held)
    local rest = {}
    addToSum(rest, held, '1')
    addToSum(rest, field == 'total' and onEvery or bySeries[string.sub(field, 2)] or '0', '-1')
    rest = sumText(rest) or '0'
    heldAny, isLeft, restUnits = heldAny or held ~= '0', isLeft or rest ~= '0', restUnits or rest
    if field ~= 'total' then restText = restText .. ' ' .. rest .. '@' .. string.sub(field, 2) end
  end)
  if not heldAny then return false end
  if not isLeft and isDropped then
    forget(place, id)
    return true
  end
  giveBack(place, units, series)
  if not isLeft then
    call('HSET', data .. 'held:' .. place, id, units .. ' ' .. expiry .. 'u' .. series)
    return true
  end
  call('HSET', data .. 'held:' .. place, id, restUnits .. ' ' .. expiry .. restText)
  addHeld(place, restUnits, restText)
  return false
end
`

/*
 * Ends reservations because their usage is counted. Parameters alternate: subject and scope, id, and how it ends: 'f' for one that
 * is forgotten at once, '' for one that is remembered, or a part of its units (packSettled). Expired reservations end too, because
 * their usage is no longer in transit. `onHeld` is called with the places of those that were still held, and `isSettledBefore`
 * returns whether a part was subtracted before; both get the offset of a part. Requires exactSums.
 */
export const settleReservations = `
${changeReservations}
${reduceReservations}
local function settlePart(place, id, part)
  local onEvery, bySeries, _, together = unpack(part)
  local isUsedUp = reduceReservation(place, id, onEvery, bySeries, false)
  if isUsedUp and isHeld(together, id) then forget(together, id) end
end
local function settleReservation(place, id, how, onHeld, isSettledBefore)
  local units, expiry, isUsed, series = reservationAt(place, id)
  if not units or isUsed then return end
  local part = type(how) == 'table' and how
  if part and isSettledBefore and isSettledBefore(place, part[3]) then return end
  if not begun then begin() end
  if onHeld and isHeld(place, id) then onHeld(place, part and part[3]) end
  if part then
    settlePart(place, id, part)
  elseif how == 'f' then
    forget(place, id)
  else
    call('HSET', data .. 'held:' .. place, id, units .. ' ' .. expiry .. 'u' .. series)
    giveBack(place, units, series)
  end
end
local function settleReservations(settled, onHeld, isSettledBefore)
  for i = 1, #settled, 3 do
    settleReservation(settled[i], settled[i + 1], settled[i + 2], onHeld, isSettledBefore)
  end
end
`
