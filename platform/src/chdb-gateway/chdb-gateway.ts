import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer, refuse } from './answer.ts'
import { createBodyBudget, type BodyBudget } from './body-budget.ts'
import { createLoginCheck, type GatewayUser } from './credentials.ts'
import { GatewayException } from './exception.ts'
import { createLane, type Lane } from './lane.ts'
import { openFolder } from './open-folder.ts'
import { readStatement } from './read-statement.ts'
import type { EngineSessions } from './sessions.ts'
import { isPlainSelect, type Statement, type StatementResult } from './statement.ts'

export type ChdbGatewayOptions = {
  readonly folder: string
  /** TCP port; 0 selects a free one. */
  readonly port: number
  /** Password of the services' user `default`, which has all rights. */
  readonly password: string
  /** Password of the read-only user `data_team`. Undefined refuses that user. */
  readonly readerPassword?: string | undefined
  /** Maximum bytes of a request body, before and after decompression. */
  readonly bodyBytesMax?: number
  /** Maximum bytes of all request bodies together. */
  readonly bodiesBytesMax?: number
  /** Maximum bytes of a result, which is held in memory as a whole. */
  readonly resultBytesMax?: number
  /** Time limit in seconds of a SELECT that sets no limit itself. */
  readonly executionSecondsMax?: number
  /** How long to wait for a previous process to release the folder, in milliseconds. */
  readonly folderWaitMs?: number
  /** Maximum waiting statements per lane; further ones are refused. */
  readonly queueMax?: number
}

export type ChdbGateway = {
  readonly port: number
  /** Finishes running statements, refuses waiting ones, then closes the engine. May be called twice. */
  stop(): Promise<void>
}

type Parts = {
  readonly sessions: EngineSessions
  readonly userOf: (request: IncomingMessage) => GatewayUser | undefined
  /** Inserts have separate capacity, so that heavy SELECTs cannot delay them. */
  readonly inserts: Lane
  readonly statements: Lane
  /** Statements of the read-only user, which never use the capacity of the services. */
  readonly readers: Lane
  readonly budget: BodyBudget
  readonly defaults: ReadonlyMap<string, string>
  readonly unanswered: Set<ServerResponse>
}

const insertsAtOnce = 2
const statementsAtOnce = 3
const readersAtOnce = 2
/** How long to wait for clients that read their response slowly while the gateway stops. */
const answerWaitMs = 5_000

/**
 * Starts a server that provides ClickHouse's HTTP interface, as far as its official client uses it, for the engine in this process.
 */
export async function startChdbGateway(options: ChdbGatewayOptions): Promise<ChdbGateway> {
  const queueMax = options.queueMax ?? 256
  const parts: Parts = {
    sessions: await openFolder(options.folder, options.folderWaitMs ?? 5_000),
    userOf: createLoginCheck({ owner: options.password, reader: options.readerPassword }),
    inserts: createLane(insertsAtOnce, queueMax),
    statements: createLane(statementsAtOnce, queueMax),
    readers: createLane(readersAtOnce, queueMax),
    budget: createBodyBudget(
      options.bodyBytesMax ?? 64 * 1024 * 1024,
      options.bodiesBytesMax ?? 256 * 1024 * 1024,
    ),
    defaults: new Map([
      ['max_result_bytes', String(options.resultBytesMax ?? 256 * 1024 * 1024)],
      ['max_execution_time', String(options.executionSecondsMax ?? 60)],
    ]),
    unanswered: new Set(),
  }
  // Longer than any client keeps an idle connection, so that the server never closes one first.
  const server = createServer({ keepAliveTimeout: 60_000, maxHeaderSize: 1024 * 1024 })
  server.on('request', (request, response) => void serve(parts, request, response))
  const port = await listen(server, options.port)
  let stopping: Promise<void> | undefined
  return { port, stop: () => (stopping ??= stop(server, parts)) }
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

async function stop(server: Server, parts: Parts): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  await Promise.all([parts.inserts.close(), parts.statements.close(), parts.readers.close()])
  const end = Date.now() + answerWaitMs
  while (parts.unanswered.size > 0 && Date.now() < end) await sleep(10)
  server.closeAllConnections()
  await parts.sessions.close()
  await closed
}

async function serve(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  parts.unanswered.add(response)
  response.once('close', () => parts.unanswered.delete(response))
  const body = parts.budget.open()
  try {
    const user = parts.userOf(request)
    if (user === undefined) {
      throw new GatewayException(516, 'AUTHENTICATION_FAILED', 'the user or the password is wrong')
    }
    const { pathname } = new URL(request.url ?? '/', 'http://gateway')
    if (pathname === '/ping' || (request.method === 'GET' && request.url === '/')) {
      response.end('Ok.\n')
      return
    }
    if (pathname !== '/') {
      throw new GatewayException(
        60,
        'UNKNOWN_TABLE',
        `There is no handle ${pathname}. Use / or /ping.`,
      )
    }
    const statement = await readStatement(request, body)
    await answer(request, response, await run(parts, user, statement, response))
  } catch (error) {
    refuse(response, error)
  } finally {
    body.close()
  }
}

async function run(
  parts: Parts,
  user: GatewayUser,
  statement: Statement,
  response: ServerResponse,
): Promise<StatementResult> {
  const { sessions, readers, inserts, statements } = parts
  if (user === 'reader') {
    return await inLane(readers, response, () => sessions.runAsReader(statement))
  }
  const lane = statement.rows !== undefined ? inserts : statements
  const settings = isPlainSelect(statement.text)
    ? new Map([...parts.defaults, ...statement.settings])
    : statement.settings
  return await inLane(lane, response, () => sessions.run({ ...statement, settings }))
}

function inLane(
  lane: Lane,
  response: ServerResponse,
  act: () => Promise<StatementResult>,
): Promise<StatementResult> {
  return lane.run(async () => {
    // A client that disconnected while waiting must not cost the engine anything. Nothing was executed yet.
    if (response.destroyed) throw new GatewayException(394, 'QUERY_WAS_CANCELLED', 'caller left')
    return await act()
  })
}
