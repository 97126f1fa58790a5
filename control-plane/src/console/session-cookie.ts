import type { FastifyRequest } from 'fastify'
import {
  environmentHeader,
  environmentNamed,
  userHeader,
  type Environment,
} from '@tollgate/schemas/environment'

/*
 * The console calls the API with a cookie that contains the access token of the sign-in, so that no script can read the token. The
 * cookie alone authenticates nothing: a request must also name its environment in a header. Other sites can make a browser send the
 * cookie in some cases, but cannot add a header without permission, which this service never gives.
 */

/** Cookie for requests of the console to the API. It contains the access token, like the cookie of the pages at `/console`. */
export const apiCookieName = 'tollgate_console_api'
/** Path of the cookie, below the path of the installation. */
export const apiCookiePath = '/v1/ui'

const cookiePattern = /(?:^|;)\s*tollgate_console_api=([\w-]{1,100})\s*(?:;|$)/

/** A signed-in browser's access token, and what the request is for. */
export type CookieSession = {
  readonly token: string
  readonly environment: Environment
  /** The user for whom the page was loaded. Undefined if the page does not know its user yet. */
  readonly userId: string | undefined
}

/**
 * Returns the session of a request from the console. Returns undefined if the request has another credential, or no header that
 * names the environment.
 */
export function readCookieSession({
  headers,
}: Pick<FastifyRequest, 'headers'>): CookieSession | undefined {
  if (headers.authorization || headers['x-api-key']) return undefined
  const environment = environmentNamed(headers[environmentHeader])
  const token = cookiePattern.exec(headers.cookie ?? '')?.[1]
  if (environment === undefined || token === undefined) return undefined
  const userId = headers[userHeader]
  return { token, environment, userId: typeof userId === 'string' ? userId : undefined }
}
