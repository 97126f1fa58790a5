import { divideRounded } from '../money/decimal.ts'
import type { ModelPrices, TokenPrice } from './model-prices.ts'

/** Tokens of one call in 10^-6 tokens, as safe integers from 0. `input` includes the tokens of caches. */
export type ModelTokens = {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
}

/** 10^-6 tokens times 10^-12 dollars per 10^6 tokens are 10^-24 dollars. */
const unitsPerPico = 10n ** 12n

/** Returns whether the tokens of caches are at most the input tokens, of which they are a part. */
export function areCachesWithinInput({ input, cacheRead, cacheWrite }: ModelTokens): boolean {
  return cacheRead + cacheWrite <= input
}

/**
 * Returns what the call costs in 10^-12 US dollars, rounded once, half away from zero. Returns undefined if a token of the call has
 * no price. Tokens of caches are part of the input and are priced once: by their own price, or by that of the input.
 */
export function modelCost(prices: ModelPrices, tokens: ModelTokens): bigint | undefined {
  const { input, output } = prices
  if (input === undefined && tokens.input > 0) return undefined
  if (output === undefined && tokens.output > 0) return undefined
  const { cacheRead = input, cacheWrite = input } = prices
  const uncached = tokens.input - tokens.cacheRead - tokens.cacheWrite
  const sum =
    priceOf(input, uncached, tokens) +
    priceOf(cacheRead, tokens.cacheRead, tokens) +
    priceOf(cacheWrite, tokens.cacheWrite, tokens) +
    priceOf(output, tokens.output, tokens)
  return divideRounded(sum, unitsPerPico) + prices.call
}

function priceOf(price: TokenPrice | undefined, micros: number, call: ModelTokens): bigint {
  if (price === undefined || micros === 0) return 0n
  let applied = price.base
  for (const tier of price.tiers) {
    if (call.input <= tier.above) break
    applied = tier.price
  }
  return BigInt(micros) * applied
}
