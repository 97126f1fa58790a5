import type { FastifyRequest } from 'fastify'
import { environments, type Environment } from '@tollgate/schemas/environment'

/*
 * The console calls the API with a cookie that contains the access token of the sign-in, so that no script can read the token. The
 * cookie alone authenticates nothing: a request must also name its environment in a header. Other sites can make a browser send the
 * cookie in some cases, but cannot add a header without permission, which this service never gives.
 */

/** Cookie for the API of the console. It has the access token that the pages at `/console` have in a cookie of their own. */
export const apiCookieName = 'tollgate_console_api'
/** Path of the cookie, below the path of the installation. */
export const apiCookiePath = '/v1/ui'

const environmentHeader = 'tollgate-environment'
const cookiePattern = /(?:^|;)\s*tollgate_console_api=([\w-]{1,100})\s*(?:;|$)/

/** A signed-in browser's access token, and the environment that the request is for. */
export type CookieSession = { readonly token: string; readonly environment: Environment }

/**
 * Returns the session of a request from the console. Returns undefined if the request has another credential, or no header that
 * names the environment.
 */
export function readCookieSession({
  headers,
}: Pick<FastifyRequest, 'headers'>): CookieSession | undefined {
  if (headers.authorization || headers['x-api-key']) return undefined
  const environment = environments.find((each) => each === headers[environmentHeader])
  const token = cookiePattern.exec(headers.cookie ?? '')?.[1]
  return environment === undefined || token === undefined ? undefined : { token, environment }
}
