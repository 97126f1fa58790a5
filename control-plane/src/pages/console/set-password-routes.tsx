import type { FastifyReply, FastifyRequest } from 'fastify'
import { setPasswordByLink } from '@tollgate/domain/console/set-password'
import { passwordSetSchema } from '@tollgate/schemas/http/console-auth'
import { passwordCharsMax, passwordCharsMin } from '@tollgate/schemas/limits'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { originOf } from '../../access/caller.ts'
import { formFields } from '../form-fields.ts'
import { sendBack } from '../kept-form.ts'
import { sendProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import { consolePath, openForm, requireOpenForm } from './console-session.ts'
import { SetPasswordPage, setPasswordPath } from './set-password-page.tsx'
import { signInPath } from './sign-in-page.tsx'

type Parts = ProviderFrame & {
  readonly clock: Clock
  readonly console: ConsoleParts
  readonly hostedUrl: string
}

export function registerSetPasswordPage(app: ApiServer, pages: Parts): void {
  app.get(setPasswordPath, { schema: { hide: true } }, (request, reply) => {
    const formToken = openForm(pages, request, reply)
    return sendProviderPage(reply, 200, <SetPasswordPage frame={pages} formToken={formToken} />)
  })

  app.post(setPasswordPath, { schema: { hide: true } }, async (request, reply) => {
    requireOpenForm(request)
    const fields = formFields(request)
    const given = passwordSetSchema.safeParse({ ...fields, token: tokenIn(fields['link']) })
    if (!given.success) {
      const isOfToken = given.error.issues.some(({ path }) => path[0] === 'token')
      return show(pages, request, reply, 400, isOfToken ? badLink : badPassword)
    }
    if (fields['repeated'] !== fields['password']) {
      return show(pages, request, reply, 400, 'The two passwords differ. Enter the same one twice.')
    }
    const now = new Date(pages.clock.now())
    const asked = { ...given.data, origin: originOf(request) }
    const outcome = await setPasswordByLink(pages.console, asked, now)
    if (outcome.kind === 'no-such-link') return show(pages, request, reply, 410, badLink)
    const page = {
      path: pages.basePath + consolePath,
      formToken: openForm(pages, request, reply),
    }
    const kept = { fields: { email: outcome.user.email }, text: null }
    return sendBack(pages, reply, page, pages.basePath + signInPath, kept)
  })
}

const badPassword = `Choose a password of ${passwordCharsMin} to ${passwordCharsMax} characters.`

const badLink =
  'This link is cut off, was used already or has expired. Ask whoever invited you for a new one.'

/** Shows the page again, with the link and without the passwords. If the link does not work, the page asks for it again. */
function show(
  pages: ProviderFrame & { readonly hostedUrl: string },
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  text: string,
): FastifyReply {
  const props = {
    frame: pages,
    formToken: openForm(pages, request, reply),
    notice: { tone: 'bad', text } as const,
    link: text === badLink ? undefined : formFields(request)['link'],
  }
  return sendProviderPage(reply, status, <SetPasswordPage {...props} />)
}

/** Returns the token, from a complete link or from the token alone. */
function tokenIn(link: string | undefined): string | undefined {
  return link === undefined ? undefined : /(?:^|[#&]token=)([\w-]{43})$/.exec(link.trim())?.[1]
}
