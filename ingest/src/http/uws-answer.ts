import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { bodyWithId } from './answers.ts'
import type { Answer, HeaderList } from './http-front.ts'

export type SendOptions = {
  /** False for HEAD: the length is told, the body is not. */
  readonly hasBody: boolean
  readonly closesConnection: boolean
  readonly requestId: string
}

const statusLines = new Map<number, string>(
  Object.entries(STATUS_CODES).map(([code, phrase]) => [Number(code), `${code} ${phrase ?? ''}`]),
)

/** Sends a whole answer in one write. The response must be neither answered nor aborted. */
export function sendAnswer(response: HttpResponse, answer: Answer, options: SendOptions): void {
  const body = bodyWithId(answer, options.requestId)
  response.cork(() => {
    writeHead(response, answer.status, answer.headers, options.requestId)
    response.writeHeader('content-type', 'application/json; charset=utf-8')
    if (options.hasBody) response.end(body, options.closesConnection)
    else response.endWithoutBody(Buffer.byteLength(body), options.closesConnection)
  })
}

export function writeHead(
  response: HttpResponse,
  status: number,
  headers: HeaderList | undefined,
  requestId: string,
): void {
  if (status !== 200) response.writeStatus(statusLines.get(status) ?? `${status} `)
  response.writeHeader(requestIdHeader, requestId)
  if (headers === undefined) return
  for (const [name, value] of headers) response.writeHeader(name, value)
}
