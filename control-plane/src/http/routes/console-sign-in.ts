import { setPasswordByLink } from '@tollgate/domain/console/set-password'
import { signIn } from '@tollgate/domain/console/sign-in'
import {
  passwordSetResponseSchema,
  passwordSetSchema,
  signInResponseSchema,
  signInSchema,
} from '@tollgate/schemas/http/console-auth'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { readBrowserCookie, setBrowserCookie } from '../../console/browser-cookie.ts'
import { originOf } from '../../access/caller.ts'
import { signedInToHttp } from '../translate/console.ts'

const shared = { tags: ['Console'], security: [] }

/** Registers the routes for users who are not signed in yet. Only these routes work without a credential. */
export function registerSignInRoutes(
  app: ApiServer,
  parts: { readonly clock: Clock; readonly console: ConsoleParts },
): void {
  app.post(
    '/v1/ui/auth/sign-in',
    {
      schema: {
        ...shared,
        body: signInSchema,
        response: { 200: signInResponseSchema },
      },
    },
    async (request, reply) => {
      const { providerId, ...given } = request.body
      const attempt = {
        ...given,
        providerId: providerId || undefined,
        address: request.ip,
        browserToken: readBrowserCookie(request),
        origin: originOf(request),
      }
      const outcome = await signIn(parts.console, attempt, new Date(parts.clock.now()))
      switch (outcome.kind) {
        case 'signed-in': {
          const { browserToken } = outcome
          if (browserToken !== undefined) {
            setBrowserCookie(request, reply, browserToken, parts.console.limits.knownBrowserMs)
          }
          return signedInToHttp(outcome.signedIn)
        }
        case 'several':
          return { status: 'choose_provider' as const, providers: [...outcome.providers] }
        case 'refused':
          throw refusals.badSignIn()
        case 'wait':
          throw refusals.tooManySignIns(outcome.waitMs)
      }
    },
  )

  app.post(
    '/v1/ui/auth/password',
    {
      schema: {
        ...shared,
        body: passwordSetSchema,
        response: { 200: passwordSetResponseSchema },
      },
    },
    async (request) => {
      const now = new Date(parts.clock.now())
      const outcome = await setPasswordByLink(
        parts.console,
        { ...request.body, origin: originOf(request) },
        now,
      )
      if (outcome.kind === 'no-such-link') throw refusals.passwordLinkInvalid()
      return { success: true as const, email: outcome.user.email }
    },
  )
}
