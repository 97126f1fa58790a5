import { issueEnvironmentToken, signOut } from '@tollgate/domain/console/change-session'
import { changePassword } from '@tollgate/domain/console/set-password'
import {
  environmentSwitchSchema,
  passwordChangeSchema,
  signedInSchema,
  signedInUserSchema,
  signedOutSchema,
} from '@tollgate/schemas/http/console-auth'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { readBrowserCookie } from '../../console/browser-cookie.ts'
import { actorOf, originOf, sessionOf } from '../../access/caller.ts'
import { requireProvider } from '../../access/require.ts'
import { signedInToHttp, signedInUserToHttp } from '../translate/console.ts'
import type { ReadParts } from '../../access/read.ts'

type Parts = ReadParts & { readonly clock: Clock; readonly console: ConsoleParts }

const tags = ['Console']
/** Users manage their own sign-in with any role, and also if the provider is not live. */
const config = { scope: 'any', misplacedKey: 'served' } as const

export function registerConsoleAuthRoutes(app: ApiServer, parts: Parts): void {
  app.get(
    '/v1/ui/auth/me',
    { config, schema: { tags, response: { 200: signedInUserSchema } } },
    async (request) => {
      const session = sessionOf(request)
      const provider = await requireProvider(parts, session)
      return signedInUserToHttp({ ...session, user: session, provider })
    },
  )

  app.post(
    '/v1/ui/auth/environment',
    {
      config,
      schema: {
        tags,
        body: environmentSwitchSchema,
        response: { 200: signedInSchema },
      },
    },
    async (request) => {
      const session = sessionOf(request)
      const { environment } = request.body
      const provider = await requireProvider(parts, session)
      const now = new Date(parts.clock.now())
      const change = { actor: actorOf(request), now }
      const accessToken = await issueEnvironmentToken(parts.database, session, environment, change)
      if (accessToken === undefined) throw refusals.badAccessToken()
      const signedInUser = signedInUserToHttp({ ...session, environment, user: session, provider })
      return { status: 'signed_in' as const, accessToken, ...signedInUser }
    },
  )

  app.post(
    '/v1/ui/auth/sign-out',
    { config, schema: { tags, response: { 200: signedOutSchema } } },
    async (request) => {
      await signOut(parts.database, sessionOf(request))
      return { success: true as const }
    },
  )

  registerPasswordChange(app, parts)
}

function registerPasswordChange(
  app: ApiServer,
  parts: { readonly clock: Clock; readonly console: ConsoleParts },
): void {
  app.put(
    '/v1/ui/auth/password',
    {
      config,
      schema: {
        tags,
        body: passwordChangeSchema,
        response: { 200: signedInSchema },
      },
    },
    async (request) => {
      const change = {
        ...request.body,
        address: request.ip,
        browserToken: readBrowserCookie(request),
        origin: originOf(request),
      }
      const now = new Date(parts.clock.now())
      const outcome = await changePassword(parts.console, sessionOf(request), change, now)
      switch (outcome.kind) {
        case 'changed':
          return signedInToHttp(outcome.signedIn)
        case 'refused':
          throw refusals.wrongPassword()
        case 'wait':
          throw refusals.tooManySignIns(outcome.waitMs)
      }
    },
  )
}
