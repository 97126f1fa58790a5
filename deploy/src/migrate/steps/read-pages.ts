import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

/** A column of the sort key. */
export type KeyColumn = {
  readonly name: string
  /** Type of the query parameter. */
  readonly type: 'String' | 'UInt32' | 'UInt64' | 'Int64'
  /** Returns the SQL expression that converts the parameter to the column's type. */
  readonly restore?: (parameter: string) => string
}

/** A table that is read in pages. The pages are the same each time they are read. */
export type PagedTable<Row> = {
  readonly name: string
  /** SQL of the columns to read: `expression AS name`. */
  readonly columns: readonly string[]
  /** Unique key of the rows, by which the table is sorted. */
  readonly key: readonly KeyColumn[]
  readonly keyOf: (row: Row) => Key
  /** SQL expression for the approximate bytes of a row. */
  readonly bytes: string
}

/** Values of the key columns. */
export type Key = readonly string[]

export type PageLimits = { readonly rowsMax: number; readonly bytesMax: number }

/** Size of a page, which is inserted at once. It is far below the limits of a server. */
export const pageLimits: PageLimits = { rowsMax: 50_000, bytesMax: 16_777_216 }

export type Page<Row> = {
  /** Last key before the page, or undefined for the first page. */
  readonly after: Key | undefined
  readonly rows: readonly Row[]
  readonly last: Key
}

/** Returns all pages after a key. The next page is read while the current one is processed. */
export async function* readPages<Row>(
  store: UsageStore,
  table: PagedTable<Row>,
  within: string,
  after: Key | undefined,
  limits: PageLimits = pageLimits,
): AsyncGenerator<Page<Row>> {
  let begin = after
  let reading = readPage(store, table, within, begin, limits)
  for (;;) {
    const rows = await reading
    const lastRow = rows.at(-1)
    if (lastRow === undefined) return
    const last = table.keyOf(lastRow)
    reading = readPage(store, table, within, last, limits)
    // Prevents an unhandled rejection if the processing of this page fails and the next one is never awaited.
    reading.catch(() => undefined)
    yield { after: begin, rows, last }
    begin = last
  }
}

/**
 * Returns the rows after a key that match a condition, in order. The number of rows fits one insert, and is 0 at the end. FINAL
 * returns each row once, even if the engine has not merged duplicates yet.
 */
async function readPage<Row>(
  store: UsageStore,
  table: PagedTable<Row>,
  within: string,
  after: Key | undefined,
  { rowsMax, bytesMax }: PageLimits,
): Promise<Row[]> {
  const order = table.key.map(({ name }) => name).join(', ')
  return await store.query<Row>(
    `SELECT ${table.columns.join(', ')} FROM (
       SELECT *, sum(${table.bytes}) OVER (
         ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
       ) - ${table.bytes} AS bytes_before
       FROM (
         SELECT * FROM ${table.name} FINAL
         WHERE ${within} AND ${after === undefined ? 'true' : isKeyAfter(table.key)}
         ORDER BY ${order} LIMIT ${rowsMax}
       )
     )
     WHERE bytes_before < ${bytesMax} ORDER BY ${order}`,
    Object.fromEntries((after ?? []).map((value, index) => [`key${index}`, value])),
  )
}

/** Returns the comparison of the key written column by column. In this form, ClickHouse uses the primary index. */
function isKeyAfter(key: readonly KeyColumn[]): string {
  return key.reduceRight((rest, { name, type, restore = (text) => text }, index) => {
    const value = restore(`{key${index}:${type}}`)
    const isBehind = `${name} > ${value}`
    return rest === '' ? isBehind : `(${isBehind} OR (${name} = ${value} AND ${rest}))`
  }, '')
}
