import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import {
  ClickHouseLogLevel,
  createClient,
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  type ClickHouseSettings,
} from '@clickhouse/client'
import type { UsageStore } from '../usage-store.ts'
import { toUsageStoreError } from './clickhouse-errors.ts'
import { NativeBlock } from './native-block.ts'

export type ClickHouseConnection = {
  readonly url: string
  readonly username: string
  readonly password: string
  /** Default database for unqualified table names. */
  readonly database?: string
  readonly requestTimeoutMs: number
  readonly connectionsMax?: number
  /** Certificates in PEM. Without them, an https server must have a certificate of a public authority. */
  readonly tls?: {
    readonly authority: Buffer
    /** Client certificate, for servers that require one. */
    readonly own?: { readonly certificate: Buffer; readonly key: Buffer }
  }
  /** The cluster that the tables are distributed over. Undefined for a single server. */
  readonly cluster?: {
    readonly name: string
    /** Replicas of a shard that must have a block before its insert succeeds: a number, or `auto` for the majority. */
    readonly insertQuorum: string
  }
}

/**
 * Settings for exactly-once inserts. One token covers a whole request: the server must store it as one block, and drop it,
 * including its views, if the token is known.
 */
const exactlyOnce = {
  async_insert: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Late events may spread one batch over many monthly partitions. Refusing it would block the log forever.
  max_partitions_per_insert_block: '0',
} as const

/**
 * Settings for query results: large numbers as text, because JSON numbers would lose digits, and an error before the first row
 * instead of after some rows.
 */
const exactResults = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  wait_end_of_query: 1,
} as const

/**
 * Settings for a cluster. An insert ends when every shard has its rows on as many replicas as the quorum requires. Reads and writes
 * use the same replica of a shard while it is up, whichever server is asked, so that stored rows are found.
 */
function clusterSettings({ cluster, requestTimeoutMs }: ClickHouseConnection): ClickHouseSettings {
  if (cluster === undefined) return {}
  // The server times out before the client, so that its error names the replica that did not answer.
  const serverTimeoutMs = Math.ceil(requestTimeoutMs * 0.9)
  return {
    distributed_foreground_insert: 1,
    insert_quorum: cluster.insertQuorum,
    insert_quorum_timeout: serverTimeoutMs,
    load_balancing: 'in_order',
    prefer_localhost_replica: 0,
    distributed_ddl_task_timeout: `${Math.ceil(serverTimeoutMs / 1_000)}`,
  }
}

export function createClickHouseUsageStore(connection: ClickHouseConnection): UsageStore {
  const client = connect(connection)
  const idleBlocks: NativeBlock[] = []
  return {
    async insert(table, columns, rows, token) {
      const names = columns.map(({ name }) => quotedName(name)).join(', ')
      const block = idleBlocks.pop() ?? new NativeBlock()
      const parts = block.write(columns, rows)
      await withStoreErrors(async () => {
        const { stream } = await client.exec({
          query: `INSERT INTO ${quoted(table)} (${names}) FORMAT Native`,
          values: Readable.from(parts, { objectMode: false }),
          clickhouse_settings: { ...exactlyOnce, insert_deduplication_token: token },
        })
        // An unread response would occupy its connection.
        await finished(stream.resume())
      })
      // The block is used again only after a response. A request that was interrupted may still be reading it.
      idleBlocks.push(block)
    },
    async query<Row>(statement: string, parameters?: Readonly<Record<string, unknown>>) {
      return await withStoreErrors(async () => {
        const result = await client.query({
          query: statement,
          format: 'JSONEachRow',
          clickhouse_settings: exactResults,
          ...(parameters === undefined ? {} : { query_params: { ...parameters } }),
        })
        return await result.json<Row>()
      })
    },
    stream(statement, parameters, { format, rowsMax, bytesMax }) {
      return withStoreErrors(async () => {
        const { stream } = await client.exec({
          query: `${statement}\nFORMAT ${format}`,
          query_params: { ...parameters },
          clickhouse_settings: {
            ...exactResults,
            date_time_output_format: 'iso',
            max_result_rows: String(rowsMax),
            max_result_bytes: String(bytesMax),
            result_overflow_mode: 'throw',
          },
        })
        return stream
      })
    },
    async command(statement) {
      await withStoreErrors(() => client.command({ query: statement }))
    },
    async ping() {
      await withStoreErrors(async () => {
        const result = await client.ping({ select: false })
        if (!result.success) throw result.error
      })
    },
    close: () => client.close(),
  }
}

export function connect(connection: ClickHouseConnection): ClickHouseClient {
  return createClient({
    url: connection.url,
    username: connection.username,
    password: connection.password,
    ...(connection.database === undefined ? {} : { database: connection.database }),
    request_timeout: connection.requestTimeoutMs,
    max_open_connections: connection.connectionsMax ?? 8,
    application: 'tollgate',
    clickhouse_settings: clusterSettings(connection),
    ...tlsOf(connection),
    // Errors reach the caller, which logs them with their context.
    log: { level: ClickHouseLogLevel.OFF },
  })
}

function tlsOf({ tls }: ClickHouseConnection): Pick<ClickHouseClientConfigOptions, 'tls'> {
  if (tls === undefined) return {}
  const { authority, own } = tls
  if (own === undefined) return { tls: { ca_cert: authority } }
  return { tls: { ca_cert: authority, cert: own.certificate, key: own.key } }
}

async function withStoreErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toUsageStoreError(error)
  }
}

function quoted(table: string): string {
  return table.split('.').map(quotedName).join('.')
}

function quotedName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}
