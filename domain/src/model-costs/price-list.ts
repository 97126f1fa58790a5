import { createRequire } from 'node:module'
import type * as GenaiPrices from '@pydantic/genai-prices'
import type { ModelPrice, TieredPrices } from '@pydantic/genai-prices'
import { Recent } from '@tollgate/platform/memory/recent'
import type { ModelPrices, TokenPrice } from './model-prices.ts'

/*
 * The public list of prices of language models, as the package contains it. The list has no other version than that of the package,
 * which package.json pins. Its own calculation uses floating point and takes 50 µs or more, so only the search for a model and its
 * prices is taken from it, and what was found is remembered.
 */

/** The version of the list, as records store it. A test compares it with the installed package. */
export const priceListVersion = 'genai-prices@0.1.8'

/** Models that are remembered. Clients choose the names, so there must be a bound. */
const knownModelsMax = 10_000

const minuteMs = 60_000
const microsPerToken = 1_000_000

type KnownModel =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'fixed'; readonly prices: ModelPrices }
  /** The price depends on the date or the time of day. The list changes prices only at whole minutes. */
  | { readonly kind: 'timed'; readonly minute: number; readonly prices: ModelPrices }

const unknown: KnownModel = { kind: 'unknown' }

const requirePackage = createRequire(import.meta.url)
let loaded: typeof GenaiPrices | undefined

/**
 * Loads the package, which takes up to 0.2 s and 19 MB. It is loaded with the first meter that needs it, so an installation without
 * such meters never pays for it.
 */
export function loadPriceList(): typeof GenaiPrices {
  loaded ??= requirePackage('@pydantic/genai-prices') as typeof GenaiPrices
  return loaded
}

/** Finds prices in the list. It has no state except what it remembers of the list. */
export class PriceList {
  readonly #known = new Recent<KnownModel>(knownModelsMax)

  /**
   * Returns the prices of the model at that time, in Unix milliseconds, or undefined if the list has none. Without a vendor, the
   * name of the model decides which vendor's price applies.
   */
  pricesOf(vendor: string | null, model: string, atMs: number): ModelPrices | undefined {
    const key = JSON.stringify([vendor, model])
    const minute = Math.floor(atMs / minuteMs)
    let known = this.#known.get(key)
    if (known === undefined || (known.kind === 'timed' && known.minute !== minute)) {
      known = find(vendor, model, minute)
      this.#known.set(key, known)
    }
    return known.kind === 'unknown' ? undefined : known.prices
  }
}

/** Returns whether the list has models of that vendor. */
export function isListedVendor(vendor: string): boolean {
  return loadPriceList().findProvider({ providerId: vendor }) !== undefined
}

function find(vendor: string | null, model: string, minute: number): KnownModel {
  const timestamp = new Date(minute * minuteMs)
  const found = loadPriceList().calcPrice({}, model, {
    timestamp,
    ...(vendor !== null && { providerId: vendor }),
  })
  if (found === null) return unknown
  const prices = modelPricesOf(found.model_price)
  const isTimed = Array.isArray(found.model.prices)
  return isTimed ? { kind: 'timed', minute, prices } : { kind: 'fixed', prices }
}

function modelPricesOf(listed: ModelPrice): ModelPrices {
  return {
    source: priceListVersion,
    input: tokenPriceOf(listed['input_mtok']),
    cacheRead: tokenPriceOf(listed['cache_read_mtok']),
    cacheWrite: tokenPriceOf(listed['cache_write_mtok']),
    output: tokenPriceOf(listed['output_mtok']),
    call: callPriceOf(listed['requests_kcount']),
  }
}

function tokenPriceOf(price: number | TieredPrices | undefined): TokenPrice | undefined {
  if (price === undefined) return undefined
  if (typeof price === 'number') return { base: picosOf(price), tiers: [] }
  const tiers = price.tiers
    .map(({ start, price: tierPrice }) => ({
      above: start * microsPerToken,
      price: picosOf(tierPrice),
    }))
    .sort((one, other) => one.above - other.above)
  return { base: picosOf(price.base), tiers }
}

/** The list has the price of 1,000 calls, without tiers. */
function callPriceOf(price: number | TieredPrices | undefined): bigint {
  if (price === undefined) return 0n
  return picosOf(typeof price === 'number' ? price : price.base) / 1_000n
}

/**
 * Returns the price in 10^-12 dollars. The list has decimals with few digits, which a double represents closely enough that 12
 * decimals round to exactly them.
 */
function picosOf(price: number): bigint {
  return BigInt(price.toFixed(12).replace('.', ''))
}
