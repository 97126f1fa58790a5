import type { ClusterEngine } from '@tollgate/platform/testing/cluster-engine'
import type { Column, UsageStore } from '@tollgate/platform/usage-store/usage-store'

/** Returns the parts of a usage store that totals need, on an engine that is configured as a cluster. */
export function clusterStore(engine: ClusterEngine): UsageStore {
  const unused = (): never => {
    throw new Error('not needed for totals')
  }
  return {
    async query<Row>(statement: string, parameters: Readonly<Record<string, unknown>> = {}) {
      for (const [name, value] of Object.entries(parameters)) {
        await engine.run(`SET param_${name} = ${quoted(asParameter(value))}`)
      }
      return (await engine.run(statement)) as Row[]
    },
    async insert<Row>(table: string, columns: readonly Column<Row>[], rows: readonly Row[]) {
      const names = columns.map(({ name }) => name).join(', ')
      const values = rows.map((row) => {
        const each = columns.map(({ value }) => quoted(textOf(value(row))))
        return `(${each.join(', ')})`
      })
      await engine.run(
        `INSERT INTO ${table} (${names}) SETTINGS distributed_foreground_insert = 1 VALUES ${values.join(', ')}`,
      )
    },
    async command(statement) {
      await engine.run('SET distributed_foreground_insert = 1')
      await engine.run(statement)
    },
    stream: unused,
    ping: unused,
    close: unused,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function asParameter(value: unknown): string {
  if (!Array.isArray(value)) return textOf(value)
  return `[${value.map((each) => (typeof each === 'string' ? quoted(each) : textOf(each))).join(', ')}]`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
