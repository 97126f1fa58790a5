import { z } from 'zod'
import { changeEmailSettings, findEmailSettings } from '@tollgate/domain/emails/settings-repository'
import {
  emailKinds,
  emailPreviewQuerySchema,
  emailPreviewSchema,
  emailSettingsSchema,
  emailSettingsUpdateSchema,
  type EmailSettingsBody,
} from '@tollgate/schemas/http/emails'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { readSender } from '../../emails/compose-email.ts'
import { previewEmail } from '../../emails/preview-email.ts'
import type { EmailTransport } from '../../emails/transport.ts'
import { knownLocale } from '../../pages/texts/languages.ts'
import { basePathOf } from '../../pages/static-files.ts'

type Parts = ChangeParts & {
  readonly hostedUrl: string
  readonly emailTransport: EmailTransport
}

const tags = ['Emails']
const path = '/v1/ui/email-settings'

/** Registers the routes of a provider's decisions about emails to its customers, and the previews of the emails. */
export function registerEmailSettingsRoutes(app: ApiServer, parts: Parts): void {
  app.get(path, { schema: { tags, response: { 200: emailSettingsSchema } } }, (request) =>
    readBody(parts, callerOf(request)),
  )

  app.patch(
    path,
    { schema: { tags, body: emailSettingsUpdateSchema, response: { 200: emailSettingsSchema } } },
    async (request) => {
      const { kinds, senderName, replyTo, locale, sandboxRecipients } = request.body
      const change = {
        kinds: kinds === undefined ? undefined : [...new Set(kinds)],
        senderName: senderName?.trim() ?? senderName,
        replyTo,
        locale: locale === undefined ? undefined : knownLocale(locale),
        sandboxRecipients:
          sandboxRecipients === undefined ? undefined : [...new Set(sandboxRecipients)],
      }
      await commit(parts, operationOf(request, parts.clock), ({ sql, providerId, now }) =>
        changeEmailSettings(sql, providerId, change, now),
      )
      return readBody(parts, callerOf(request))
    },
  )

  registerPreview(app, parts)
}

function registerPreview(app: ApiServer, parts: Parts): void {
  const { hostedUrl } = parts
  const params = z.object({ emailKind: z.enum(emailKinds) })

  app.get(
    '/v1/ui/email-previews/:emailKind',
    {
      schema: {
        tags,
        params,
        querystring: emailPreviewQuerySchema,
        response: { 200: emailPreviewSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { environment, providerId } = caller
      const settings = await read(parts, caller, (sql) => findEmailSettings(sql, providerId))
      const basePath = basePathOf(hostedUrl)
      const sender = await readSender({ ...parts, basePath }, caller, settings)
      const kind = request.params.emailKind
      const locale = knownLocale(request.query.locale) ?? settings.locale
      const preview = previewEmail({ kind, locale, sender, settings, environment, hostedUrl })
      const { subject, text, html, fromName } = preview
      return { kind, locale: locale ?? 'en', from: fromName, subject, text, html }
    },
  )
}

async function readBody(parts: Parts, caller: Caller): Promise<EmailSettingsBody> {
  const settings = await read(parts, caller, (sql) => findEmailSettings(sql, caller.providerId))
  return {
    ...settings,
    kinds: [...settings.kinds],
    sandboxRecipients: [...settings.sandboxRecipients],
    transport: parts.emailTransport.kind,
  }
}
