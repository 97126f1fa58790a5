import { sendJson, sendMessage } from '../http/send-response.ts'
import { readBody, refusedBodyBytesMax } from '../http/read-body.ts'
import {
  errorCodes,
  errorMessage,
  idOf,
  isMessage,
  isRequest,
  methodOf,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { parseJson } from '../protocol/parse-json.ts'
import { boundMessages, type Bound } from './open-requests.ts'
import type { HttpExchange } from './http-exchange.ts'

/**
 * Answers a POST for which no place is free. Requests get JSON-RPC errors with HTTP 200, because only those reach the model. They
 * are not recorded. Notifications and responses are passed to `serve`, because they have their own places.
 */
export async function refuseOverLimit(
  exchange: HttpExchange,
  bound: Bound,
  serve: (text: string) => Promise<void>,
): Promise<void> {
  const { request, response } = exchange
  const body = await readBody(request, refusedBodyBytesMax)
  if (body.kind === 'aborted') return
  if (body.kind === 'too-large') {
    // The id of the request is unknown. Reading more of the body would use the memory that the limit protects.
    response.setHeader('connection', 'close')
    return sendOverLimit(exchange, bound)
  }
  const parsed = parseJson(body.text)
  const requests = [parsed].flat().filter(isRequestMessage)
  if (requests.length === 0) return serve(body.text)
  const errors = requests.map((each) => overLimitMessage(exchange, bound, idOf(each)!))
  if (Array.isArray(parsed)) return sendJson(response, 200, JSON.stringify(errors))
  // Clients fall back to sessions after a `server/discover` that fails with 4xx. They treat any other failure as final.
  const status = methodOf(requests[0]!) === 'server/discover' ? 400 : 200
  sendMessage(response, status, errors[0]!)
}

/** Refuses a request that gets no JSON-RPC response. */
export function sendOverLimit({ parts, response }: HttpExchange, bound: Bound): void {
  parts.metrics.requestsRefused.inc({ bound })
  response.setHeader('retry-after', '2')
  sendMessage(response, 429, errorMessage(null, errorCodes.refused, boundMessages[bound]))
}

function isRequestMessage(value: unknown): value is Message {
  return isMessage(value) && isRequest(value)
}

/** Counts a refused request and returns its JSON-RPC error. */
export function overLimitMessage({ parts }: HttpExchange, bound: Bound, id: MessageId): Message {
  parts.metrics.requestsRefused.inc({ bound })
  return errorMessage(id, errorCodes.internal, boundMessages[bound])
}
