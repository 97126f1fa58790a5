import { readFileSync } from 'node:fs'
import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areCachesWithinInput, modelCost } from './model-cost.ts'
import { isListedVendor, PriceList, priceListVersion } from './price-list.ts'

/*
 * Compares exact costs with the calculation of the package, which uses floating point, for every model of the large vendors.
 */

const picosPerDollar = 1e12
const now = Date.parse('2026-09-20T09:30:00Z')
const list = new PriceList()

const vendors = ['openai', 'anthropic', 'google', 'deepseek', 'groq', 'mistral', 'x-ai', 'cohere']

const models = vendors.flatMap((vendor) =>
  findProvider({ providerId: vendor })!
    .models.filter(({ id }) => calcPrice({}, id, { providerId: vendor })?.model.id === id)
    .map((model) => ({ vendor, model })),
)

/** Returns the constraints of all prices of the list's vendors above. */
function constraintsOf({ prices }: ModelInfo) {
  return Array.isArray(prices) ? prices.flatMap(({ constraint }) => constraint ?? []) : []
}

test('names the version of the installed package', () => {
  const packageFile = new URL('../package.json', import.meta.resolve('@pydantic/genai-prices'))
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  expect(priceListVersion).toBe(`genai-prices@${version}`)
})

test('changes prices only at whole minutes', () => {
  for (const { model } of models) {
    for (const constraint of constraintsOf(model)) {
      if (constraint.type === 'start_date') expect(constraint.start_date).toMatch(/^[\d-]{10}$/)
      else expect([constraint.start_time, constraint.end_time].join()).toMatch(/^\S+:00Z,\S+:00Z$/)
    }
  }
})

const tokens = fc.record({
  input: fc.oneof(fc.nat(5_000), fc.nat(3_000_000)),
  output: fc.nat(100_000),
  cachedPercent: fc.nat(100),
  writtenPercent: fc.nat(100),
})

test('costs what the package calculates, for every model, with cached tokens counted once', () => {
  expect(models.length).toBeGreaterThan(150)
  let compared = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      tokens,
      fc.integer({ min: Date.parse('2024-01-01'), max: now }),
      ({ vendor, model }, { input, output, cachedPercent, writtenPercent }, at) => {
        const cacheRead = Math.floor((input * cachedPercent) / 100)
        const cacheWrite = Math.floor(((input - cacheRead) * writtenPercent) / 100)
        const prices = list.pricesOf(vendor, model.id, at)!
        const call = { input, cacheRead, cacheWrite, output }
        const micros = Object.fromEntries(
          Object.entries(call).map(([kind, count]) => [kind, count * 1_000_000]),
        ) as typeof call
        const cost = modelCost(prices, micros)
        if (cost === undefined) {
          expect(
            (prices.input === undefined && input > 0) ||
              (prices.output === undefined && output > 0),
          ).toBe(true)
          return
        }
        const expected = calcPrice(
          {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cacheRead,
            cache_write_tokens: cacheWrite,
          },
          model.id,
          { providerId: vendor, timestamp: new Date(at - (at % 60_000)) },
        )!.total_price
        compared += 1
        const difference = Math.abs(Number(cost) / picosPerDollar - expected)
        expect(difference).toBeLessThanOrEqual(1e-12 + expected * 1e-12)
      },
    ),
    { numRuns: 5_000 },
  )
  expect(compared).toBeGreaterThan(2_000)
})

describe('examples by hand', () => {
  const costOf = (vendor: string | null, model: string, call: object, at = now) => {
    const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
    const prices = list.pricesOf(vendor, model, at)
    return prices && modelCost(prices, { ...none, ...call })
  }
  const million = 1_000_000_000_000

  test('prices input, cached input and output separately', () => {
    const call = { input: 1_000e6, cacheRead: 400e6, output: 100e6 }
    // 600 × $2.50 + 400 × $1.25 + 100 × $10 per million.
    expect(costOf('openai', 'gpt-4o', call)).toBe(3_000_000_000n)
    expect(costOf(null, 'gpt-4o-2024-11-20', call)).toBe(3_000_000_000n)
  })

  test('returns undefined for an unknown model and for tokens without a price', () => {
    expect(costOf(null, 'no-such-model', {})).toBe(undefined)
    expect(costOf('anthropic', 'gpt-4o', {})).toBe(undefined)
    expect(costOf('openai', 'text-embedding-3-small', { input: million })).toBe(20_000_000_000n)
    expect(costOf('openai', 'text-embedding-3-small', { output: 1 })).toBe(undefined)
  })

  test('keeps fractions of a token exact and rounds once', () => {
    // 10^-6 tokens at $2.50 per million are 2.5 × 10^-12 dollars, and half rounds away from zero.
    expect(costOf('openai', 'gpt-4o', { input: 1 })).toBe(3n)
    expect(costOf('openai', 'gpt-4o', { input: 2 })).toBe(5n)
  })

  test('knows vendors, and accepts the caches only as parts of the input', () => {
    expect([isListedVendor('openai'), isListedVendor('opnai')]).toEqual([true, false])
    const call = { input: 10, cacheRead: 6, cacheWrite: 4, output: 0 }
    expect(areCachesWithinInput(call)).toBe(true)
    expect(areCachesWithinInput({ ...call, cacheWrite: 5 })).toBe(false)
  })
})
