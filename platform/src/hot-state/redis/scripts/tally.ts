/*
 * Sums amounts before they are added to a counter, with one addition per series and field instead of one per second. A Lua number
 * is exact below 2^53. So amounts of 16 digits or more, and parts in units of 2^62, are added separately, and a sum is added before
 * it could exceed the limit.
 */
export const tallyAmounts = `
local exactDigits, flushAt = 15, 8e15
local function newTally(addTo)
  local sums = {}
  local function addSum(series, field, sum)
    if sum ~= 0 then addTo(series, field, string.format('%.0f', sum)) end
  end
  return {
    add = function(series, field, amount, isHigh)
      if isHigh then
        addTo(series, '^' .. field, amount)
      elseif #amount > exactDigits then
        addTo(series, field, amount)
      else
        local ofSeries = sums[series]
        if not ofSeries then
          ofSeries = {}
          sums[series] = ofSeries
        end
        local sum = (ofSeries[field] or 0) + tonumber(amount)
        if sum >= flushAt or sum <= -flushAt then
          addSum(series, field, sum)
          sum = 0
        end
        ofSeries[field] = sum
      end
    end,
    finish = function()
      for series, ofSeries in pairs(sums) do
        for field, sum in pairs(ofSeries) do addSum(series, field, sum) end
      end
    end,
  }
end
`
