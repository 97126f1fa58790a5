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
}
