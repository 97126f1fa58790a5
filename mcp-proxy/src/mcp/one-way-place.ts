import { sendCrowded } from './serve-crowded.ts'
import type { Visit } from './visit.ts'

/**
 * Does what a notification, a response or a DELETE asks for, or refuses it if too many of them are open. They have places of their
 * own: they are what ends requests that are open, and must not wait for those.
 */
export async function inOneWayPlace(visit: Visit, work: () => Promise<void>): Promise<void> {
  const { parts, server, caller } = visit
  const place = parts.openOneWay.enter(server, caller)
  if (typeof place === 'string') return sendCrowded(visit, place)
  try {
    await work()
  } finally {
    place.leave()
  }
}

/**
 * Sends the origin what gets no response that counts. A server that never ends its answer is given up like one that is silent:
 * it would keep the place.
 */
export async function tellOrigin(
  { parts }: Visit,
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
    // A stream in answer to it is nobody's.
    controller.abort()
  }
}
