import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { exceptionBody, GatewayException, httpStatusOf, toException } from './exception.ts'
import { LaneClosedError, LaneFullError } from './lane.ts'
import type { StatementResult } from './statement.ts'

const gzipAsync = promisify(gzip)

export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  result: StatementResult,
): Promise<void> {
  response.setHeader('X-ClickHouse-Summary', summaryOf(result))
  const isCompressed =
    /\benable_http_compression=1\b/.test(request.url ?? '') &&
    /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (!isCompressed) {
    response.end(result.bytes)
    return
  }
  const compressed = await gzipAsync(result.bytes)
  response.setHeader('Content-Encoding', 'gzip')
  response.end(compressed)
}

function summaryOf(result: StatementResult): string {
  return JSON.stringify({
    read_rows: String(result.readRows),
    read_bytes: String(result.readBytes),
    written_rows: String(result.writtenRows),
    written_bytes: String(result.writtenBytes),
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: String(result.bytes.length),
    elapsed_ns: String(Math.round(result.elapsedSeconds * 1e9)),
  })
}

export function refuse(response: ServerResponse, error: unknown): void {
  const exception = toException(toGatewayError(error))
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  response.statusCode = httpStatusOf(exception)
  response.setHeader('X-ClickHouse-Exception-Code', exception.code)
  response.end(exceptionBody(exception))
}

function toGatewayError(error: unknown): unknown {
  if (error instanceof LaneFullError) {
    return new GatewayException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', error.message)
  }
  if (error instanceof LaneClosedError) return new GatewayException(236, 'ABORTED', error.message)
  return error
}
