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
