import type { FastifyReply, FastifyRequest } from 'fastify'
import { setPasswordByLink } from '@tollgate/domain/console/set-password'
import { passwordSetSchema } from '@tollgate/schemas/http/console-auth'
import { passwordCharsMax, passwordCharsMin } from '@tollgate/schemas/limits'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { originOf } from '../../access/caller.ts'
import { formFields } from '../form-fields.ts'
import { showFormAgain } from '../submitted-form.ts'
import { sendProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import { consolePath, signInPath } from './paths.ts'
import { issueFormToken, requireIssuedFormToken } from './console-session.ts'
import { SetPasswordPage, setPasswordPath } from './set-password-page.tsx'

type Parts = ProviderFrame & {
  readonly clock: Clock
  readonly console: ConsoleParts
  readonly hostedUrl: string
}

export function registerSetPasswordPage(app: ApiServer, pages: Parts): void {
  app.get(setPasswordPath, { schema: { hide: true } }, (request, reply) => {
    const formToken = issueFormToken(pages, request, reply)
    return sendProviderPage(reply, 200, <SetPasswordPage frame={pages} formToken={formToken} />)
  })

  app.post(setPasswordPath, { schema: { hide: true } }, async (request, reply) => {
    requireIssuedFormToken(request)
    const fields = formFields(request)
    const given = passwordSetSchema.safeParse({ ...fields, token: tokenIn(fields['link']) })
    if (!given.success) {
      const isOfToken = given.error.issues.some(({ path }) => path[0] === 'token')
      return showAgain(
        pages,
        request,
        reply,
        400,
        isOfToken ? invalidLinkText : invalidPasswordText,
      )
    }
    if (fields['repeated'] !== fields['password']) {
      return showAgain(
        pages,
        request,
        reply,
        400,
        'The two passwords differ. Enter the same one twice.',
      )
    }
    const now = new Date(pages.clock.now())
    const passwordRequest = { ...given.data, origin: originOf(request) }
    const outcome = await setPasswordByLink(pages.console, passwordRequest, now)
    if (outcome.kind === 'no-such-link')
      return showAgain(pages, request, reply, 410, invalidLinkText)
    const page = {
      path: pages.basePath + consolePath,
      formToken: issueFormToken(pages, request, reply),
    }
    const submitted = { fields: { email: outcome.user.email }, text: null }
    return showFormAgain(pages, reply, page, pages.basePath + signInPath, submitted)
  })
}

const invalidPasswordText = `Choose a password of ${passwordCharsMin} to ${passwordCharsMax} characters.`

const invalidLinkText =
  'This link is cut off, was used already or has expired. Ask whoever invited you for a new one.'

/** Shows the page again, with the link and without the passwords. If the link does not work, the page asks for it again. */
function showAgain(
  pages: ProviderFrame & { readonly hostedUrl: string },
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  text: string,
): FastifyReply {
  const props = {
    frame: pages,
    formToken: issueFormToken(pages, request, reply),
    notice: { tone: 'bad', text } as const,
    link: text === invalidLinkText ? undefined : formFields(request)['link'],
  }
  return sendProviderPage(reply, status, <SetPasswordPage {...props} />)
}

/** Returns the token, from a complete link or from the token alone. */
function tokenIn(link: string | undefined): string | undefined {
  return link === undefined ? undefined : /(?:^|[#&]token=)([\w-]{43})$/.exec(link.trim())?.[1]
}
