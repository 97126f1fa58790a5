import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'

type Row = Record<string, unknown>

/**
 * What ClickHouse was measured to do with tokens, small enough for thousands of crashes: the table and the view behind
 * it know a token each, and an insert that dies in the middle may have reached the first only.
 */
export class TokenStore implements UsageStore {
  readonly rows: Row[] = []
  readonly rollUp: Row[] = []
  readonly #tokens = { rows: new Set<string>(), rollUp: new Set<string>() }
  /** The next insert stops after the table and throws. */
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
  async ping(): Promise<void> {}
  async close(): Promise<void> {}
}
