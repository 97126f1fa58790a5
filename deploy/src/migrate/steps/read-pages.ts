import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

/** A column that rows are sorted by. */
export type KeyColumn = {
  readonly name: string
  /** As it is sent in a query. */
  readonly type: 'String' | 'UInt32' | 'UInt64' | 'Int64'
  /** Makes the column's type of it again. */
  readonly restore?: (parameter: string) => string
}

/** A table that is read in pages which are the same whenever they are read. */
export type PagedTable<Row> = {
  readonly name: string
  /** What is read of each row, in SQL: `expression AS name`. */
  readonly columns: readonly string[]
  /** Rows are unique by these, which the table is sorted by. */
  readonly key: readonly KeyColumn[]
  readonly keyOf: (row: Row) => Key
  /** About how many bytes a row has, in SQL. */
  readonly bytes: string
}

/** The values of the key's columns. */
export type Key = readonly string[]

export type PageLimits = { readonly rowsMax: number; readonly bytesMax: number }

/** Of a page that is inserted at once: less by far than a server takes. */
export const pageLimits: PageLimits = { rowsMax: 20_000, bytesMax: 8_388_608 }

/**
 * The rows that follow a key, within a condition, in order: as many as make an insert of a good size, none at the end.
 * FINAL shows each row once, however far the engine has come with its merges.
 */
export async function readPage<Row>(
  store: UsageStore,
  table: PagedTable<Row>,
  within: string,
  after: Key | undefined,
  { rowsMax, bytesMax }: PageLimits = pageLimits,
): Promise<Row[]> {
  const order = table.key.map(({ name }) => name).join(', ')
  return await store.query<Row>(
    `SELECT ${table.columns.join(', ')} FROM (
       SELECT *, sum(${table.bytes}) OVER (
         ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
       ) - ${table.bytes} AS bytes_before
       FROM (
         SELECT * FROM ${table.name} FINAL
         WHERE ${within} AND ${after === undefined ? 'true' : isAfter(table.key)}
         ORDER BY ${order} LIMIT ${rowsMax}
       )
     )
     WHERE bytes_before < ${bytesMax} ORDER BY ${order}`,
    Object.fromEntries((after ?? []).map((value, index) => [`key${index}`, value])),
  )
}

/** Written out column by column, in which form the engine finds the place by its index. */
function isAfter(key: readonly KeyColumn[]): string {
  return key.reduceRight((rest, { name, type, restore = (text) => text }, index) => {
    const value = restore(`{key${index}:${type}}`)
    const isBehind = `${name} > ${value}`
    return rest === '' ? isBehind : `(${isBehind} OR (${name} = ${value} AND ${rest}))`
  }, '')
}
