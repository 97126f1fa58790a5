import type { ServerResponse } from 'node:http'

/**
 * Calls `listener` when the response has gone to the client, or the client has gone. Returns a function that takes the listener
 * back.
 */
export function whenClosed(response: ServerResponse, listener: () => void): () => void {
  const { socket } = response.req
  if (response.closed || socket.destroyed) {
    queueMicrotask(listener)
    return () => undefined
  }
  // Node does not close a response that waits behind another one of its connection when the connection closes.
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

/** Whether what is written reaches the client no more. */
export function isClosed(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed
}
