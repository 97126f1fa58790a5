import type { IncomingMessage } from 'node:http'
import { createRequestIds } from '@tollgate/platform/service/request-ids'
import { isRequestId, requestIdHeader } from '@tollgate/schemas/http/request-id'
import type { ApiServer } from '../../access/api-server.ts'

/**
 * Returns the request id that the client sent if it is well-formed, otherwise a new one. The data plane sends an id with the
 * requests that it forwards.
 */
export function createRequestIdReader(): (request: IncomingMessage) => string {
  const newId = createRequestIds()
  return ({ headers }) => {
    const given = headers[requestIdHeader]
    return typeof given === 'string' && isRequestId(given) ? given : newId()
  }
}

/** Adds the request id to every response. Install it before all routes. */
export function installRequestId(app: ApiServer): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(requestIdHeader, request.id)
    done()
  })
}
