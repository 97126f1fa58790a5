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
export const pageLimits: PageLimits = { rowsMax: 50_000, bytesMax: 16_777_216 }

export type Page<Row> = {
  /** The last key before it; undefined: it is the first one. */
  readonly after: Key | undefined
  readonly rows: readonly Row[]
  readonly last: Key
}

/** All pages that follow a key. While one is worked on, the next one is read. */
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
    // Nobody waits for it when the work on this page fails.
    reading.catch(() => undefined)
    yield { after: begin, rows, last }
    begin = last
  }
}

/**
 * The rows that follow a key, within a condition, in order: as many as make an insert of a good size, none at the end.
 * FINAL shows each row once, however far the engine has come with its merges.
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
