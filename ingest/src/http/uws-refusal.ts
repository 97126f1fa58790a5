import type { HttpResponse } from 'uWebSockets.js'
import {
  ambiguousLength,
  bodyWithId,
  repeatedAuthorization,
  unknownTransferCoding,
  wrongHost,
} from './answers.ts'
import type { Answer } from './http-front.ts'
import { sendAnswer, writeHead } from './uws-answer.ts'
import type { UwsContext } from './uws-context.ts'

/** uWebSockets.js buffers writes up to this size while it reads a packet, and sends a larger write immediately. */
const gatheredBytesMax = 16_384

/** These refusals are sent immediately, because the end of the connection may otherwise replace the response. */
const answersToSmuggling: ReadonlySet<Answer> = new Set([
  ambiguousLength,
  unknownTransferCoding,
  wrongHost,
  repeatedAuthorization,
])

/**
 * Answers a request that must not be executed, and closes the connection. The response stays unfinished until the packet has been
 * read: after a finished response uWebSockets.js executes the next request in the packet, after an unfinished one it closes the
 * connection.
 */
export function refuseAndClose(context: UwsContext, response: HttpResponse, answer: Answer): void {
  let isOpen = true
  const { requestId } = context.head
  context.options.onRefused(answer.status)
  response.onAborted(() => {
    isOpen = false
  })
  const isSmuggling = answersToSmuggling.has(answer)
  if (isSmuggling) sendAtOnce(response, answer, requestId)
  setImmediate(() => {
    if (!isOpen) return
    if (isSmuggling) response.close()
    else sendAnswer(response, answer, { hasBody: true, closesConnection: true, requestId })
  })
}

/** Sends the response without the last one of its padding spaces, which JSON does not need. So the response stays unfinished. */
function sendAtOnce(response: HttpResponse, answer: Answer, requestId: string): void {
  const body = bodyWithId(answer, requestId).padEnd(gatheredBytesMax)
  response.cork(() => {
    writeHead(response, answer.status, answer.headers, requestId)
    response.writeHeader('content-type', 'application/json; charset=utf-8')
    response.writeHeader('connection', 'close')
    response.tryEnd(body, body.length + 1)
  })
}
