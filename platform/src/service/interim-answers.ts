import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Sends `100 Continue` when all earlier answers of the connection are sent, and only if the client still waits for it. While an
 * earlier answer is in progress, node:http would hold the interim answer back and send it between the head and the body of its own
 * answer.
 */
export function continueInTurn(request: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return response.writeContinue()
  response.once('socket', () => {
    if (!response.headersSent && !request.complete) response.writeContinue()
  })
}
