/** Charges and limits use `count` and `sum`. Only usage queries know the others. */
export const aggregations = ['count', 'sum', 'max', 'unique', 'last'] as const
export type Aggregation = (typeof aggregations)[number]

/** Returns whether the usage of several records is the sum of their values. */
export function isAdditive(aggregation: Aggregation): boolean {
  return aggregation === 'sum' || aggregation === 'count'
}

/** A value that a filter compares, as in JSON: the number 1 and the text `1` differ. */
export type FilterValue = string | number | boolean

/** What a meter that reads events counts, and of which events. */
export type MeterReading = {
  readonly aggregation: Aggregation
  readonly type: string
  /** Every property must have one of its values. */
  readonly where: Readonly<Record<string, readonly FilterValue[]>>
  /** JSON pointers whose values are added. Empty means the value of the call itself. */
  readonly value: readonly string[]
  readonly dimensions: readonly string[]
  /** Present for a meter that counts what calls of language models cost, in place of `value`. */
  readonly modelCost?: ModelCostReading | undefined
}

/** How the cost of a call of a language model is computed from an event. Lists are JSON pointers whose values are added. */
export type ModelCostReading = {
  /** The property with the name of the model. */
  readonly model: string
  /** The vendor in the price list. Null if the name of the model decides. */
  readonly provider: string | null
  /** All input tokens, including those of caches. */
  readonly inputTokens: readonly string[]
  readonly cacheReadTokens: readonly string[]
  readonly cacheWriteTokens: readonly string[]
  readonly outputTokens: readonly string[]
  readonly prices: readonly OwnModelPrice[]
  readonly unknownModel: 'record' | 'refuse'
  /** The dimension that says by which price the cost of a record was computed. It is one of the meter's `dimensions`. */
  readonly priceDimension: string
}

/** A provider's own price of a model, in US dollars per million tokens as decimal text. */
export type OwnModelPrice = {
  /** The name of the model, or `*` for all models without another price. */
  readonly model: string
  readonly input: string
  readonly cacheRead?: string | undefined
  readonly cacheWrite?: string | undefined
  readonly output: string
}
