import { createHmac } from 'node:crypto'

/**
 * Returns what one service of the installation sends another as its bearer, on a route that is for services alone and not
 * for one provider. The secret that the services share does not travel.
 */
export function serviceTokenOf(secret: string, path: string): string {
  return createHmac('sha256', secret).update(`service-token:${path}`).digest('hex')
}
