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
import { GrowingBuffer } from './growing-buffer.ts'
import { writeNativeBlock } from './native-block.ts'

export type ClickHouseConnection = {
  readonly url: string
  readonly username: string
  readonly password: string
  /** Where unqualified names are looked up. */
  readonly database?: string
  readonly requestTimeoutMs: number
  readonly connectionsMax?: number
  /** Certificates in PEM; without them an https address is checked against the public authorities. */
  readonly tls?: {
    readonly authority: Buffer
    /** What we show to a server that asks for it. */
    readonly own?: { readonly certificate: Buffer; readonly key: Buffer }
  }
  /** The cluster that the tables are spread over; undefined: a single server. */
  readonly cluster?: {
    readonly name: string
    /** Replicas of a shard that must have a block before its insert succeeds: a number, or `auto` for the majority. */
    readonly insertQuorum: string
  }
}

/** One token covers a whole request: the server must take it at once and drop it, views included, when it is known. */
const exactlyOnce = {
  async_insert: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Late events may spread one batch over many months; refusing it would hold up the log for ever.
  max_partitions_per_insert_block: '0',
} as const

/** JSON numbers would lose digits; and an error must not come after half of the rows. */
const exactAnswers = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  wait_end_of_query: 1,
} as const

/**
 * On a cluster an insert ends when every shard has its rows, on as many replicas as the quorum says. Reads and writes
 * go to the same replica of a shard while it lives, whichever server is asked, so that what was stored is found.
 */
function clusterSettings({ cluster, requestTimeoutMs }: ClickHouseConnection): ClickHouseSettings {
  if (cluster === undefined) return {}
  // A server that gives up before the client does leaves an error that says which replica did not answer.
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
  const idleBuffers: GrowingBuffer[] = []
  return {
    async insert(table, columns, rows, token) {
      const names = columns.map(({ name }) => quotedName(name)).join(', ')
      const buffer = idleBuffers.pop() ?? new GrowingBuffer()
      writeNativeBlock(buffer, columns, rows)
      await translated(async () => {
        const { stream } = await client.exec({
          query: `INSERT INTO ${quoted(table)} (${names}) FORMAT Native`,
          values: Readable.from([buffer.written()], { objectMode: false }),
          clickhouse_settings: { ...exactlyOnce, insert_deduplication_token: token },
        })
        // Unread, the answer would keep its connection from the next request.
        await finished(stream.resume())
      })
      // Only after an answer: of a request that was cut off, nobody knows whether it still reads its bytes.
      buffer.clear()
      idleBuffers.push(buffer)
    },
    async query<Row>(statement: string, parameters?: Readonly<Record<string, unknown>>) {
      return await translated(async () => {
        const result = await client.query({
          query: statement,
          format: 'JSONEachRow',
          clickhouse_settings: exactAnswers,
          ...(parameters === undefined ? {} : { query_params: { ...parameters } }),
        })
        return await result.json<Row>()
      })
    },
    async command(statement) {
      await translated(() => client.command({ query: statement }))
    },
    async ping() {
      await translated(async () => {
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
    // Failures reach the caller, who logs them with what was being done.
    log: { level: ClickHouseLogLevel.OFF },
  })
}

function tlsOf({ tls }: ClickHouseConnection): Pick<ClickHouseClientConfigOptions, 'tls'> {
  if (tls === undefined) return {}
  const { authority, own } = tls
  if (own === undefined) return { tls: { ca_cert: authority } }
  return { tls: { ca_cert: authority, cert: own.certificate, key: own.key } }
}

async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
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
