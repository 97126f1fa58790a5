import type { IncomingMessage } from 'node:http'
import { createRequestIds } from '@tollgate/platform/service/request-ids'
import { isRequestId, requestIdHeader } from '@tollgate/schemas/http/request-id'
import type { ApiServer } from '../../access/api-server.ts'

/** Returns the client's name for the request if it is well-formed, else one of ours. The data plane names what it passes on. */
export function createRequestNames(): (request: IncomingMessage) => string {
  const newId = createRequestIds()
  return ({ headers }) => {
    const given = headers[requestIdHeader]
    return typeof given === 'string' && isRequestId(given) ? given : newId()
  }
}

/** Every answer says how its request is named. Install it before all routes. */
export function installRequestId(app: ApiServer): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(requestIdHeader, request.id)
    done()
  })
}
