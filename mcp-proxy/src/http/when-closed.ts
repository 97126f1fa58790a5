import type { ServerResponse } from 'node:http'

/**
 * Calls `listener` when the response has been sent to the client, or when the client has disconnected. Returns a function that
 * removes the listener.
 */
export function whenClosed(response: ServerResponse, listener: () => void): () => void {
  const { socket } = response.req
  if (response.closed || socket.destroyed) {
    queueMicrotask(listener)
    return () => undefined
  }
  // Node does not close a response that is queued behind another one when their connection closes, so the socket is watched too.
  const close = (): void => {
    forget()
    listener()
  }
  const forget = (): void => {
    response.off('close', close)
    socket.off('close', close)
  }
  response.on('close', close)
  socket.on('close', close)
  return forget
}

/** Returns whether written data can no longer reach the client. */
export function isClosed(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed
}
