/** One statement as received over HTTP, before it is interpreted. */
export type Statement = {
  readonly text: string
  /** Rows of an INSERT, separate from its text. */
  readonly rows: Uint8Array | undefined
  /** Output format if the text names none. */
  readonly format: string
  readonly database: string | undefined
  readonly settings: ReadonlyMap<string, string>
  /** Values of `{name:Type}` placeholders, in ClickHouse's escaped text form, as received. */
  readonly parameters: ReadonlyMap<string, string>
}

export type StatementResult = {
  readonly bytes: Uint8Array
  readonly readRows: number
  readonly readBytes: number
  readonly writtenRows: number
  readonly writtenBytes: number
  readonly elapsedSeconds: number
}

export type InsertTarget = {
  readonly table: string
  readonly columns: readonly string[] | undefined
  readonly format: string
}

const insertWithRows =
  /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([\w.`"]+)\s*(?:\(([\w\s,`"]*)\))?\s*FORMAT\s+(\w+)\s*;?\s*$/i

/** Returns the target of `INSERT INTO … FORMAT …`, or undefined for any other statement. */
export function parseInsert(text: string): InsertTarget | undefined {
  const match = insertWithRows.exec(text)
  if (match === null) return undefined
  const [, table = '', columns, format = ''] = match
  return {
    table: unquote(table),
    columns: columns?.split(',').map((column) => unquote(column.trim())),
    format,
  }
}

function unquote(identifier: string): string {
  return identifier.replaceAll(/[`"]/g, '')
}

export function isInsert(text: string): boolean {
  return /^\s*INSERT\s/i.test(text)
}

/** Returns true only if the statement certainly leaves nothing in its session: one plain SELECT. */
export function isPlainSelect(text: string): boolean {
  return /^\s*(SELECT|WITH)\s/i.test(text) && !text.includes(';')
}

/** Returns the names of all `{name:Type}` placeholders, including look-alikes inside strings. */
export function placeholderNames(text: string): string[] {
  return [...text.matchAll(/\{\s*(\w+)\s*:/g)].map((match) => match[1] ?? '')
}
