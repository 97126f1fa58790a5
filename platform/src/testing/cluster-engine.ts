import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drainPending, Session } from 'chdb'

/** ClickHouse's engine, configured with a cluster named `main` that consists of this process alone. */
export type ClusterEngine = {
  /** Returns the rows of a statement. Throws the engine's own error. */
  run(statement: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

/** There is no keeper: replicated tables can be checked up to the point where they need it, and `ON CLUSTER` is only parsed. */
const config = `<clickhouse>
  <macros><shard>1</shard><replica>a</replica></macros>
  <tcp_port>9000</tcp_port>
  <remote_servers><main><shard>
    <internal_replication>true</internal_replication>
    <replica><host>127.0.0.1</host><port>9000</port></replica>
  </shard></main></remote_servers>
</clickhouse>`

/** Starts the engine. Only one per process is possible. Nothing listens: the only replica is the process itself. */
export async function startClusterEngine(): Promise<ClusterEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cluster-'))
  const configFile = join(folder, 'config.xml')
  await writeFile(configFile, config)
  const session = new Session(join(folder, 'data'), {
    connectionArgs: [`--config-file=${configFile}`],
  })
  return {
    async run(statement) {
      const result = await session.queryAsync(statement, { format: 'JSONEachRow' })
      const lines = result.text().split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    },
    async stop() {
      session.close()
      await drainPending()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
