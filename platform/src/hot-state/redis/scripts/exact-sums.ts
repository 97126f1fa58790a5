/*
 * Sums amounts without writing anything. A Lua number is a double, so amounts are split into limbs of seven digits, lowest first,
 * each with the sign of the amount. Products and sums of some hundred limbs stay below 2^53.
 */
export const exactSums = `
local limbBase = 10000000
local function limbsOf(text)
  local sign = 1
  if string.sub(text, 1, 1) == '-' then sign, text = -1, string.sub(text, 2) end
  local limbs = {}
  for last = #text, 1, -7 do
    limbs[#limbs + 1] = sign * tonumber(string.sub(text, math.max(last - 6, 1), last))
  end
  return limbs
end
-- Adds amount times factor. Both are text.
local function addToSum(sum, amount, factor)
  local by = limbsOf(factor)
  for i, limb in ipairs(limbsOf(amount)) do
    for j, other in ipairs(by) do
      sum[i + j - 1] = (sum[i + j - 1] or 0) + limb * other
    end
  end
end
-- Returns the sum as text, or nil if it is below zero.
local function sumText(sum)
  local carry, digits = 0, ''
  for _, limb in ipairs(sum) do
    carry = carry + limb
    local rest = carry % limbBase
    digits = string.format('%07.0f', rest) .. digits
    carry = (carry - rest) / limbBase
  end
  if carry < 0 then return nil end
  return string.match(string.format('%.0f', carry) .. digits, '^0*(%d+)$')
end
`
