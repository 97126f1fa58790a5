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

/** uWebSockets.js gathers what is written while it reads a packet, up to this size, and sends more than this at once. */
const gatheredBytesMax = 16_384

/** These are sent at once, because the end of the connection may come in place of any other answer. */
const answersToSmuggling: ReadonlySet<Answer> = new Set([
  ambiguousLength,
  unknownTransferCoding,
  wrongHost,
  repeatedAuthorization,
])

/**
 * Answers a request that must not be executed, and closes the connection. The answer stays unfinished until the packet has been
 * read: uWebSockets.js executes what follows a finished answer, and closes the connection over an unfinished one.
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

/** Sends all of the answer but a space at its end, which JSON does not need. */
function sendAtOnce(response: HttpResponse, answer: Answer, requestId: string): void {
  const body = bodyWithId(answer, requestId).padEnd(gatheredBytesMax)
  response.cork(() => {
    writeHead(response, answer.status, answer.headers, requestId)
    response.writeHeader('content-type', 'application/json; charset=utf-8')
    response.writeHeader('connection', 'close')
    response.tryEnd(body, body.length + 1)
  })
}
