import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Sends `100 Continue` when it is the request's turn, and if it is still of use. While an earlier answer of the connection is
 * under way, node:http keeps the interim answer back, and then sends it between the head and the body of its own answer.
 */
export function continueInTurn(request: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return response.writeContinue()
  response.once('socket', () => {
    if (!response.headersSent && !request.complete) response.writeContinue()
  })
}
