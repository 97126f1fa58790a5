import {
  areCachesWithinInput,
  modelCost,
  type ModelTokens,
} from '@tollgate/domain/model-costs/model-cost'
import { ownModelPrices, type ModelPrices } from '@tollgate/domain/model-costs/model-prices'
import { loadPriceList, PriceList } from '@tollgate/domain/model-costs/price-list'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { anyModel, unpricedSource } from '@tollgate/schemas/http/model-costs'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { dimensionCharsMax } from '@tollgate/schemas/limits'
import type { EventCount } from '@tollgate/schemas/meter-event'
import type { ModelCostReading } from '@tollgate/schemas/meter-reading'
import { valueAt } from '@tollgate/schemas/property-path'
import {
  issueOf,
  propertyOf,
  quantityMicrosMax,
  sumOfValues,
  type Property,
} from './event-values.ts'

export type ModelCostCount = {
  /** The cost in 10^-6 US dollars as units, so its value is in 10^-12 US dollars. */
  readonly count: EventCount
  /** What the prices are of: a version of the list, `own`, or `unpriced`. */
  readonly source: string
}

/** Calls of models, as events name them and their tokens. */
type ModelCall = {
  readonly properties: JsonObject
  readonly timestamp: number
}

/** The list of this process. It never changes while the process runs. */
const priceList = new PriceList()

/** A meter that counts what calls of models cost, prepared once for all events. */
export class ModelCostMeter {
  readonly priceDimension: string
  readonly #name: string
  readonly #vendor: string | null
  readonly #model: Property
  readonly #tokens: Readonly<Record<keyof ModelTokens, readonly Property[]>>
  readonly #ownPrices: ReadonlyMap<string, ModelPrices>
  readonly #refusesUnknown: boolean

  constructor(name: string, reading: ModelCostReading) {
    // Otherwise the first event of the meter would wait for it.
    loadPriceList()
    this.priceDimension = reading.priceDimension
    this.#name = name
    this.#vendor = reading.provider
    this.#model = propertyOf(reading.model)
    this.#tokens = {
      input: reading.inputTokens.map(propertyOf),
      cacheRead: reading.cacheReadTokens.map(propertyOf),
      cacheWrite: reading.cacheWriteTokens.map(propertyOf),
      output: reading.outputTokens.map(propertyOf),
    }
    this.#ownPrices = new Map(reading.prices.map((own) => [own.model, ownModelPrices(own)]))
    this.#refusesUnknown = reading.unknownModel === 'refuse'
  }

  /** Returns the cost of a call, undefined if the event has no tokens, or the issue of a property that cannot be used. */
  costOf({ properties, timestamp }: ModelCall): ModelCostCount | ValidationIssue | undefined {
    const tokens = this.#readTokens(properties)
    if (tokens === undefined || 'message' in tokens) return tokens
    const model = valueAt(properties, this.#model.path) ?? ''
    if (typeof model !== 'string' || model.length > dimensionCharsMax) {
      const message = `expected a text of at most ${dimensionCharsMax} characters`
      return issueOf(this.#name, this.#model, message)
    }
    const priced = this.#priceOf(model, timestamp, tokens)
    if (priced === undefined) {
      if (!this.#refusesUnknown) return this.#counted(0, unpricedSource)
      const message = `the model ${JSON.stringify(model)} has no price. Add one to \`modelCost.prices\``
      return issueOf(this.#name, this.#model, message)
    }
    const { picos, source } = priced
    if (picos > BigInt(quantityMicrosMax)) {
      const [property] = this.#tokens.input
      return issueOf(this.#name, property!, 'the call costs more than a meter can count')
    }
    return this.#counted(Number(picos), source)
  }

  #counted(value: number, source: string): ModelCostCount {
    return { count: { meterName: this.#name, value, text: null }, source }
  }

  /** Returns the cost by the first prices that have every token of the call: own, listed, and own for any model. */
  #priceOf(
    model: string,
    timestamp: number,
    tokens: ModelTokens,
  ): { readonly picos: bigint; readonly source: string } | undefined {
    for (const find of [
      () => this.#ownPrices.get(model),
      () => (model === '' ? undefined : priceList.pricesOf(this.#vendor, model, timestamp)),
      () => this.#ownPrices.get(anyModel),
    ]) {
      const prices = find()
      const picos = prices && modelCost(prices, tokens)
      if (picos !== undefined) return { picos, source: prices!.source }
    }
    return undefined
  }

  #readTokens(properties: JsonObject): ModelTokens | ValidationIssue | undefined {
    const read = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
    let isCall = false
    for (const kind of ['input', 'cacheRead', 'cacheWrite', 'output'] as const) {
      const sum = sumOfValues(this.#name, this.#tokens[kind], properties)
      if (sum === undefined) continue
      if (typeof sum !== 'number') return sum
      if (sum < 0) return issueOf(this.#name, this.#tokens[kind][0]!, 'tokens cannot be negative')
      read[kind] = sum
      isCall = true
    }
    if (!isCall) return undefined
    if (areCachesWithinInput(read)) return read
    const message =
      'the tokens of caches are more than all input tokens, of which they are a part. Add their pointers to `inputTokens` if the vendor reports them separately'
    return issueOf(this.#name, this.#tokens.input[0]!, message)
  }
}
