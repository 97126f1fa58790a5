import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  findInboxMessage,
  listInbox,
  type InboxMessage,
  type ListedMessage,
} from '@tollgate/domain/customer-auth/inbox'
import { environments } from '@tollgate/schemas/environment'
import type { ApiServer } from '../../access/api-server.ts'
import { sendDocument } from '../../invoices/send-document.ts'
import { isOfThisMachine } from '../front/read-demo.ts'
import type { InboxParts as PageParts } from './sign-in-page-parts.ts'
import { ProviderPage, sendProviderPage } from '../provider/provider-page.tsx'
import { ProviderProblemError, providerProblems } from '../provider/provider-problem.tsx'

export const inboxPath = '/inbox'

/** Returns whether the client may read the mail that this installation stores instead of sending it. */
export function mayReadInbox({ customerAuth }: PageParts, request: FastifyRequest): boolean {
  const { config, mailer } = customerAuth
  return mailer.hasInbox && (config.inbox === 'on' || isOfThisMachine(request))
}

export function registerInboxPage(app: ApiServer, pages: PageParts): void {
  const schema = { hide: true }
  const messagePath = `${inboxPath}/:messageId`

  app.get(inboxPath, { schema }, async (request, reply) => {
    requireReader(pages, request)
    const { database } = pages.publisher
    const lists = await Promise.all(environments.map((each) => listInbox(database.in(each))))
    const messages = lists
      .flat()
      .sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime())
    return sendProviderPage(
      reply,
      200,
      <ProviderPage frame={pages} title="Inbox" narrow>
        <div className="stack">
          <h1>Inbox</h1>
          <p className="quiet">
            No mail server is configured, so messages to customers are shown here and sent to
            nobody. They are deleted after a day.
          </p>
        </div>
        {messages.length === 0 && <p>There are no messages.</p>}
        {messages.map((message) => (
          <Message key={message.messageId} message={message} basePath={pages.basePath} />
        ))}
      </ProviderPage>,
    )
  })

  app.get(`${messagePath}/html`, { schema }, async (request, reply) => {
    const { html } = await openMessage(pages, request)
    if (html === null) throw new ProviderProblemError(providerProblems.notFound)
    return sendHtml(reply, html)
  })

  app.get(`${messagePath}/attachment`, { schema }, async (request, reply) => {
    const { attachment } = await openMessage(pages, request)
    if (attachment === null) throw new ProviderProblemError(providerProblems.notFound)
    return sendDocument(reply, attachment)
  })
}

type MessageProps = { readonly message: ListedMessage; readonly basePath: string }

function Message({ message, basePath }: MessageProps) {
  const { messageId, recipient, subject, body, hasHtml, attachmentName, createdAt } = message
  const path = `${basePath}${inboxPath}/${messageId}`
  return (
    <section className="card">
      <h2>{subject}</h2>
      <p className="quiet">
        To {recipient}, {createdAt.toISOString().slice(0, 19).replace('T', ' ')} UTC
      </p>
      {hasHtml && (
        <p>
          <a href={`${path}/html`} target="_blank" rel="noopener">
            Open as HTML
          </a>
        </p>
      )}
      {attachmentName !== null && (
        <p>
          <a href={`${path}/attachment`} target="_blank" rel="noopener">
            {attachmentName}
          </a>
        </p>
      )}
      <p className="lines">{body}</p>
    </section>
  )
}

function requireReader(pages: PageParts, request: FastifyRequest): void {
  if (!mayReadInbox(pages, request)) throw new ProviderProblemError(providerProblems.notFound)
}

async function openMessage(
  pages: PageParts,
  request: FastifyRequest,
): Promise<Pick<InboxMessage, 'html' | 'attachment'>> {
  requireReader(pages, request)
  const { messageId } = request.params as { readonly messageId: string }
  const { database } = pages.publisher
  for (const environment of environments) {
    const found = await findInboxMessage(database.in(environment), messageId)
    if (found !== undefined) return found
  }
  throw new ProviderProblemError(providerProblems.notFound)
}

/**
 * The email itself, as a mail program shows it: with inline styles, the pictures of this installation, and nothing else. The sandbox
 * gives it an origin of its own, so it has no access to the cookies of other pages.
 */
function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  const policy = [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy.join('; '))
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .send(html)
}
