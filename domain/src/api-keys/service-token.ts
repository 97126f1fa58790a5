import { createHmac } from 'node:crypto'

/**
 * Returns the bearer token that one service of the installation sends to another, for routes that are only for services
 * and not for one provider. The shared secret itself is never sent.
 */
export function serviceTokenOf(secret: string, path: string): string {
  return createHmac('sha256', secret).update(`service-token:${path}`).digest('hex')
}
