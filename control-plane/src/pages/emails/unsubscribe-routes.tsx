import type { FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import type { Customer } from '@tollgate/domain/customers/repository'
import { locateEmailByToken } from '@tollgate/domain/emails/emails-repository'
import { suppressAddress } from '@tollgate/domain/emails/suppressions-repository'
import { environments } from '@tollgate/schemas/environment'
import { noticeKinds } from '@tollgate/schemas/http/emails'
import type { ApiServer } from '../../access/api-server.ts'
import type { Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { operationOfCustomer } from '../customer-operation.ts'
import { frameOf, type Frame, type FrameParts } from '../frame.ts'
import { Page, sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'

export function unsubscribePath(token: string): string {
  return `/customer/emails/${token}/unsubscribe`
}

const path = unsubscribePath(':token')

/** The body is one field, which is not read. */
const bodyBytesMax = 16 * 1_024

type Parts = FrameParts & ChangeParts

/**
 * Registers the page of the unsubscribe link. Opening it changes nothing, because programs that check links open them. Its form and
 * mail programs (RFC 8058) send the same POST request, which needs no cookie and no sign-in.
 */
export async function registerUnsubscribePage(app: ApiServer, pages: Parts): Promise<void> {
  const schema = { hide: true }

  app.get(path, { schema }, async (request, reply) => {
    const { frame, recipient } = await openEmail(pages, request)
    const { token } = request.params as { readonly token: string }
    const action = `${pages.basePath}${unsubscribePath(token)}`
    return sendPage(
      reply,
      200,
      <UnsubscribePage frame={frame} address={recipient} action={action} />,
    )
  })

  await app.register((instance, _options, done) => {
    acceptAnyBody(instance)
    instance.post(path, { schema }, async (request, reply) => {
      const email = await openEmail(pages, request)
      const { frame, recipient } = email
      const operation = operationOfCustomer(pages, request, email)
      const unsubscribed = { email: recipient, reason: 'unsubscribed', detail: null } as const
      await commit(pages, operation, (work) => suppressAddress(work, unsubscribed))
      return sendPage(reply, 200, <UnsubscribedPage frame={frame} />)
    })
    done()
  })
}

/** Discards bodies of the routes registered afterwards: mail programs send multipart forms too, and the token says everything. */
function acceptAnyBody(app: ApiServer): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: bodyBytesMax },
    (_request, _body, done) => done(null, undefined),
  )
}

type OpenedEmail = {
  readonly frame: Frame
  readonly caller: Caller
  readonly recipient: string
  readonly customer: Pick<Customer, 'reference'>
}

/** Finds the email of the link. Throws if the customer was deleted, or if nobody can unsubscribe from emails of this kind. */
async function openEmail(pages: Parts, request: FastifyRequest): Promise<OpenedEmail> {
  const { token = '' } = request.params as { readonly token?: string }
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(token)) throw noSuchLink()
  for (const environment of environments) {
    const found = await locateEmailByToken(pages.publisher.database.in(environment), token)
    if (found === undefined) continue
    const { providerId, kind, recipient, customerRef } = found
    if (recipient === null || customerRef === null || !noticeKinds.has(kind)) throw noSuchLink()
    const caller = { providerId, environment }
    const frame = await frameOf(pages, request, caller)
    return { frame, caller, recipient, customer: { reference: customerRef } }
  }
  throw noSuchLink()
}

function noSuchLink(): ProblemError {
  return new ProblemError(problems.noSuchLink)
}

type UnsubscribeProps = {
  readonly frame: Frame
  readonly address: string
  readonly action: string
}

function UnsubscribePage({ frame, address, action }: UnsubscribeProps): ReactElement {
  const { t, merchant } = frame
  const title = t('emails:unsubscribeTitle')
  return (
    <Page frame={frame} title={title} narrow>
      <section className="card">
        <h1>{title}</h1>
        <p>{t('emails:unsubscribeText', { address, name: merchant?.name ?? '' })}</p>
        <form method="post" action={action}>
          <button className="button main" type="submit">
            {t('emails:unsubscribeButton')}
          </button>
        </form>
      </section>
    </Page>
  )
}

function UnsubscribedPage({ frame }: { readonly frame: Frame }): ReactElement {
  const { t } = frame
  const title = t('emails:unsubscribedTitle')
  return (
    <Page frame={frame} title={title} narrow>
      <section className="card">
        <h1>{title}</h1>
        <p>{t('emails:unsubscribedText')}</p>
      </section>
    </Page>
  )
}
