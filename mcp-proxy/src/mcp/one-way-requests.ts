import { sendOverLimit } from './refuse-over-limit.ts'
import type { HttpExchange } from './http-exchange.ts'

/**
 * Processes a notification, a response or a DELETE, or refuses it if too many are open. These requests have their own limits: they
 * end open requests, so they must not wait for them.
 */
export async function withOneWayPlace(
  exchange: HttpExchange,
  work: () => Promise<void>,
): Promise<void> {
  const { parts, server, caller } = exchange
  const place = parts.openOneWay.enter(server, caller)
  if (typeof place === 'string') return sendOverLimit(exchange, place)
  try {
    await work()
  } finally {
    place.leave()
  }
}

/**
 * Sends the origin a message whose response is not used. A server that never ends its answer is aborted after `originSilenceMs`,
 * because it would keep the place.
 */
export async function sendOneWay(
  { parts }: HttpExchange,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  const timer = setTimeout(() => controller.abort(), parts.config.originSilenceMs)
  try {
    await send(signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    // A stream that the origin sends in answer is not read.
    controller.abort()
  }
}
