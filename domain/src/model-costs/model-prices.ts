import type { OwnModelPrice } from '@tollgate/schemas/meter-reading'
import { picosOfDecimal } from '../money/decimal.ts'

/** A price per million tokens in 10^-12 US dollars. */
export type TokenPrice = {
  readonly base: bigint
  /**
   * Prices of all tokens of the class in calls with more input tokens than `above`, which is in 10^-6 tokens. In ascending order.
   */
  readonly tiers: readonly { readonly above: number; readonly price: bigint }[]
}

/** The prices of one model. A class of tokens without a price has that of input tokens, if it is part of the input. */
export type ModelPrices = {
  /** What the prices are of: the version of a price list, or own prices. Stored with each record. */
  readonly source: string
  readonly input?: TokenPrice | undefined
  readonly cacheRead?: TokenPrice | undefined
  readonly cacheWrite?: TokenPrice | undefined
  readonly output?: TokenPrice | undefined
  /** Price of each call in 10^-12 US dollars. */
  readonly call: bigint
}

/** The source of costs that were computed by a provider's own prices. */
export const ownPriceSource = 'own'

export function ownModelPrices(own: OwnModelPrice): ModelPrices {
  const priceOf = (text: string): TokenPrice => ({ base: picosOfDecimal(text), tiers: [] })
  const { input, cacheRead, cacheWrite, output } = own
  return {
    source: ownPriceSource,
    input: priceOf(input),
    ...(cacheRead !== undefined && { cacheRead: priceOf(cacheRead) }),
    ...(cacheWrite !== undefined && { cacheWrite: priceOf(cacheWrite) }),
    output: priceOf(output),
    call: 0n,
  }
}
