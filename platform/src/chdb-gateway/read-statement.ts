import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { BodyShare } from './body-budget.ts'
import { GatewayException, toException } from './exception.ts'
import { isInsert, parseInsert, type Statement } from './statement.ts'

/** Parameters of the HTTP interface itself. Every other parameter is a setting of the engine. */
const interfaceParameters = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'session_id',
  'session_timeout',
  'session_check',
  'role',
  'user',
  'password',
  'quota_key',
  'compress',
  'decompress',
  'wait_end_of_query',
  'buffer_size',
  'stacktrace',
  'close_session',
])

const gunzipAsync = promisify(gunzip)

/** Reads one request completely. Throws a GatewayException if it is not a valid statement. */
export async function readStatement(
  request: IncomingMessage,
  share: BodyShare,
): Promise<Statement> {
  const address = new URL(request.url ?? '/', 'http://gateway')
  const settings = new Map<string, string>()
  const parameters = new Map<string, string>()
  for (const [name, value] of address.searchParams) {
    if (name.startsWith('param_')) parameters.set(checkedName(name.slice('param_'.length)), value)
    else if (!interfaceParameters.has(name)) settings.set(checkedName(name), value)
  }
  if (address.searchParams.has('session_id')) {
    throw new GatewayException(48, 'NOT_IMPLEMENTED', 'sessions over several requests')
  }
  // As in ClickHouse, a request that a link or an address bar can send must not change data.
  if (request.method !== 'POST' && settings.get('readonly') !== '1') settings.set('readonly', '2')
  const body = await readBody(request, share)
  const query = address.searchParams.get('query') ?? ''
  if (query === '' && body.length === 0) {
    throw new GatewayException(62, 'SYNTAX_ERROR', 'Empty query')
  }
  return {
    ...splitRows(query, body),
    format:
      address.searchParams.get('default_format') ??
      firstHeader(request, 'x-clickhouse-format') ??
      'TabSeparated',
    database:
      (address.searchParams.get('database') || undefined) ??
      firstHeader(request, 'x-clickhouse-database'),
    settings,
    parameters,
  }
}

/**
 * Separates the rows from an INSERT. Without rows they are an empty buffer; otherwise the engine would read them from standard
 * input.
 */
function splitRows(query: string, body: Buffer): Pick<Statement, 'text' | 'rows'> {
  if (isInsert(query) && body.length > 0) return { text: query, rows: body }
  const text = joinText(query, body.toString('utf8'))
  return { text, rows: parseInsert(text) === undefined ? undefined : Buffer.alloc(0) }
}

function joinText(query: string, body: string): string {
  if (query === '') return body
  return body === '' ? query : `${query}\n${body}`
}

function checkedName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  throw new GatewayException(36, 'BAD_ARGUMENTS', `${JSON.stringify(name)} is not a name`)
}

function firstHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/**
 * Reads the body completely even if it is refused: a client that is disconnected while sending would treat that as a network error
 * and retry.
 */
async function readBody(request: IncomingMessage, share: BodyShare): Promise<Buffer> {
  const chunks: Buffer[] = []
  let refusal: GatewayException | undefined
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (refusal !== undefined) continue
    try {
      share.take(chunk.length)
      chunks.push(chunk)
    } catch (error) {
      refusal = toException(error)
      chunks.length = 0
      share.close()
    }
  }
  if (refusal !== undefined) throw refusal
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  const encoding = firstHeader(request, 'content-encoding') ?? 'identity'
  if (encoding === 'identity') return body
  if (encoding !== 'gzip') {
    throw new GatewayException(48, 'NOT_IMPLEMENTED', `content encoding ${encoding}`)
  }
  const inflated = await inflate(body, share.bytesMax)
  share.close()
  share.take(inflated.length)
  return inflated
}

async function inflate(body: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await gunzipAsync(body, { maxOutputLength: bytesMax })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new GatewayException(307, 'TOO_MANY_BYTES', `at most ${bytesMax} bytes`)
    }
    throw new GatewayException(36, 'BAD_ARGUMENTS', 'the body is not gzip')
  }
}
