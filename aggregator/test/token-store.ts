import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'

type Row = Record<string, unknown>

/**
 * Imitates how ClickHouse was measured to handle tokens, but fast enough for thousands of crashes. The table and its view remember
 * a token separately, and an insert that dies halfway may have reached only the table.
 */
export class TokenStore implements UsageStore {
  readonly rows: Row[] = []
  readonly rollUp: Row[] = []
  readonly #tokens = { rows: new Set<string>(), rollUp: new Set<string>() }
  /** Makes the next insert stop after the table and throw. */
  diesHalfway = false

  async insert<Given>(
    table: string,
    columns: readonly Column<Given>[],
    given: readonly Given[],
    token: string,
  ): Promise<void> {
    const rows = given.map((row): Row =>
      Object.fromEntries(columns.map(({ name, value }) => [name, value(row)])),
    )
    this.#add('rows', rows, `${table} ${token}`)
    if (this.diesHalfway) {
      this.diesHalfway = false
      throw new Error('died between table and view')
    }
    const counted = rows.filter((row) => row['outcome'] === 'success')
    this.#add('rollUp', counted, `${table} ${token}`)
  }

  #add(target: 'rows' | 'rollUp', rows: readonly Row[], token: string): void {
    if (this.#tokens[target].has(token)) return
    this.#tokens[target].add(token)
    this[target].push(...rows)
  }

  query = (): never => {
    throw new Error('the projections ask nothing of the store')
  }
  command = this.query
  stream = this.query
  async ping(): Promise<void> {}
  async close(): Promise<void> {}
}
