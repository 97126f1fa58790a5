import type { Aggregation } from '@tollgate/schemas/meter-reading'

/* A model of usage queries: it aggregates lists of records in memory, in integers of 10^-6 units. */

export type ModelRecord = {
  readonly id: string
  readonly micros: number
  readonly atMs: number
  readonly receivedMs: number
  readonly text: string
  readonly dimensions: Readonly<Record<string, string>>
}

type ModelSum = { readonly value: number; readonly count: number }

export function sumOfModel(aggregation: Aggregation, records: readonly ModelRecord[]): ModelSum {
  return { value: valueOf(aggregation, records), count: records.length }
}

function valueOf(aggregation: Aggregation, records: readonly ModelRecord[]): number {
  if (records.length === 0) return 0
  switch (aggregation) {
    case 'sum':
    case 'count':
      return records.reduce((sum, { micros }) => sum + micros, 0) / 1_000_000
    case 'max':
      return Math.max(...records.map(({ micros }) => micros)) / 1_000_000
    case 'unique':
      return new Set(records.map(({ text }) => text)).size
    case 'last': {
      const [last] = [...records].sort(
        (a, b) => b.atMs - a.atMs || b.receivedMs - a.receivedMs || (a.id < b.id ? 1 : -1),
      )
      return last!.micros / 1_000_000
    }
  }
}

/** Returns the records by the values of the dimensions. A missing value is the empty text. */
export function groupsOfModel(
  records: readonly ModelRecord[],
  dimensions: readonly string[],
): { readonly values: readonly string[]; readonly records: readonly ModelRecord[] }[] {
  const groups = new Map<string, ModelRecord[]>()
  for (const record of records) {
    const key = JSON.stringify(dimensions.map((name) => record.dimensions[name] ?? ''))
    const members = groups.get(key)
    if (members === undefined) groups.set(key, [record])
    else members.push(record)
  }
  return [...groups].map(([key, members]) => ({
    values: JSON.parse(key) as string[],
    records: members,
  }))
}
