import type { Place } from './open-requests.ts'
import type { Visit } from './visit.ts'

/** Gives a place back when the answer has gone to the client, or the client has gone. Until then the answer takes memory. */
export function leaveWhenSent({ request, response }: Visit, place: Place): void {
  const { socket } = request
  if (response.closed || socket.destroyed) return place.leave()
  // Node does not close a response that waits behind another one of its connection when the connection closes.
  const leave = (): void => {
    response.off('close', leave)
    socket.off('close', leave)
    place.leave()
  }
  response.on('close', leave)
  socket.on('close', leave)
}
