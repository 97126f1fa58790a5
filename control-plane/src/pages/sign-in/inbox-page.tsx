import type { FastifyRequest } from 'fastify'
import { listInbox } from '@tollgate/domain/customer-auth/inbox'
import { environments } from '@tollgate/schemas/environment'
import type { ApiServer } from '../../access/api-server.ts'
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
  app.get(inboxPath, { schema: { hide: true } }, async (request, reply) => {
    if (!mayReadInbox(pages, request)) throw new ProviderProblemError(providerProblems.notFound)
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
        {messages.map(({ recipient, subject, body, createdAt }, index) => (
          <section key={index} className="card">
            <h2>{subject}</h2>
            <p className="quiet">
              To {recipient}, {createdAt.toISOString().slice(0, 19).replace('T', ' ')} UTC
            </p>
            <p className="lines">{body}</p>
          </section>
        ))}
      </ProviderPage>,
    )
  })
}
