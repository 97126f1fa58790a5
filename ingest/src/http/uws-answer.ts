import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from 'uWebSockets.js'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { bodyWithId } from './answers.ts'
import type { Answer, HeaderList } from './http-front.ts'

export type SendOptions = {
  /** False for HEAD: the response has the length and no body. */
  readonly hasBody: boolean
  readonly closesConnection: boolean
  readonly requestId: string
}

const statusLines = new Map<number, string>(
  Object.entries(STATUS_CODES).map(([code, phrase]) => [Number(code), `${code} ${phrase ?? ''}`]),
)

/** Sends a complete response in one write. The response object must be neither answered nor aborted. */
export function sendAnswer(response: HttpResponse, answer: Answer, options: SendOptions): void {
  const body = bodyWithId(answer, options.requestId)
  response.cork(() => {
    writeHead(response, answer.status, answer.headers, options.requestId)
    response.writeHeader('content-type', 'application/json; charset=utf-8')
    if (options.hasBody) response.end(utf8(body), options.closesConnection)
    else response.endWithoutBody(Buffer.byteLength(body), options.closesConnection)
  })
}

/**
 * Returns the text in a form that uWebSockets.js sends as UTF-8. Its binary for Node 24 sends a string as Latin-1 if no character
 * is above U+00FF, but sends bytes unchanged. Plain ASCII is the same in both encodings and is not copied.
 */
export function utf8(text: string): string | Buffer {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text)
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
