/*
 * Amounts are always text, because a Lua number is a double and would lose units beyond 2^53.
 *
 * A field of a hash holds 64 bits. If an addition overflows, multiples of 2^62 are moved to a twin field named '^' and the field's
 * name, which counts them. `add` accepts 64-bit text, or {low, high} for an amount of low + high * 2^62. It returns false if the
 * field certainly existed before: the sum of a new field equals the amount, even in Lua's rounded numbers.
 */
export const addAmounts = `
local unit = '4611686018427387904'
local add
function add(key, field, amount)
  if type(amount) == 'table' then
    add(key, field, amount[1])
    call('HINCRBY', key, '^' .. field, amount[2])
    return true
  end
  local sum = redis.pcall('HINCRBY', key, field, amount)
  while type(sum) == 'table' do
    if not string.find(sum.err, 'overflow', 1, true) then error(sum.err) end
    local isBelow = string.sub(amount, 1, 1) == '-'
    call('HINCRBY', key, field, isBelow and unit or '-' .. unit)
    call('HINCRBY', key, '^' .. field, isBelow and '-1' or '1')
    sum = redis.pcall('HINCRBY', key, field, amount)
  end
  return sum == tonumber(amount)
end
`

/*
 * Sets `field` to the larger of its own amount and that of `other`, if both exist, and deletes the other. For comparison both are
 * normalized to 0 <= low < 2^62, which is unique for an amount.
 */
export const moveLarger = `
local function isLess(digits, others)
  if #digits ~= #others then return #digits < #others end
  return digits < others
end
local function settle(key, field)
  local function move(low, high)
    call('HINCRBY', key, field, low)
    call('HINCRBY', key, '^' .. field, high)
  end
  call('HINCRBY', key, field, '0')
  while string.sub(call('HGET', key, field), 1, 1) == '-' do move(unit, '-1') end
  while not isLess(call('HGET', key, field), unit) do move('-' .. unit, '1') end
  return call('HGET', key, field), call('HGET', key, '^' .. field) or '0'
end
local function isThere(key, field)
  return call('HEXISTS', key, field) == 1 or call('HEXISTS', key, '^' .. field) == 1
end
local function moveLarger(key, field, other)
  if not isThere(key, other) then return end
  local otherLow, otherHigh = settle(key, other)
  if not isThere(key, field) then call('HSET', key, field, otherLow, '^' .. field, otherHigh) end
  local low, high = settle(key, field)
  local higher = tonumber(otherHigh) - tonumber(high)
  if higher > 0 or (higher == 0 and isLess(low, otherLow)) then
    call('HSET', key, field, otherLow, '^' .. field, otherHigh)
  end
  call('HDEL', key, other, '^' .. other)
end
`

/* Adds the amount of the field `from` to that of `into`, and deletes it. */
export const moveAmount = `
local function move(key, from, into)
  local low, high = call('HGET', key, from), call('HGET', key, '^' .. from)
  if not low and not high then return end
  add(key, into, { low or '0', high or '0' })
  call('HDEL', key, from, '^' .. from)
end
`
