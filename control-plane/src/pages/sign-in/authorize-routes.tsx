import type { FastifyReply, FastifyRequest } from 'fastify'
import { enrolSignedInCustomer } from '@tollgate/domain/customer-auth/enrol-customer'
import { findCustomerOfEmail } from '@tollgate/domain/customer-auth/find-customer-of-email'
import type { BrowserSession } from '@tollgate/domain/customer-auth/browser-sessions'
import type { Customer } from '@tollgate/domain/customers/repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import {
  allowClient,
  findInteraction,
  refuseClient,
  type OpenInteraction,
} from '../../customer-auth/interactions.ts'
import { authorizePath } from '../../customer-auth/issuers.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { originOf, type Caller } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { requireProduct, requireProvider } from '../../access/require.ts'
import { formFields } from '../form-fields.ts'
import type { SignInPageParts as PageParts } from './sign-in-page-parts.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { noForeignOrigins, securityHeaders } from '../security-headers.ts'
import { ConsentPage } from './consent-page.tsx'
import { registerSignInForms, showSignIn } from './sign-in-routes.tsx'
import {
  readVisitor,
  restartSignIn,
  type Exchange,
  type SignInParts,
  type Visitor,
} from './visitor.ts'

const pagePath = `${authorizePath}/:sid`

/** Registers the pages on which a customer signs in, and then allows or refuses the client. */
export function registerAuthorizePages(app: ApiServer, parts: SignInParts): void {
  const schema = { hide: true }
  registerSignInForms(
    app,
    parts,
    pagePath,
    async (exchange) => (await openConsent(parts, exchange)).visitor,
  )

  app.get(pagePath, { schema }, async (request, reply) => {
    const { visitor, interaction } = await openConsent(parts, { request, reply })
    if (visitor.session === undefined) return showSignIn(parts, { request, reply }, visitor)
    const product = await requireProduct(
      parts.pages,
      visitor.caller,
      interaction.issuer.server.productRef,
    )
    void reply.headers(consentHeaders(interaction))
    const { client } = interaction
    const shown = { visitor, client, productName: product.name }
    return sendPage(reply, 200, <ConsentPage {...shown} />)
  })

  app.post(`${pagePath}/answer`, { schema }, async (request, reply) => {
    const { visitor, interaction } = await openConsent(parts, { request, reply })
    // Some browsers apply the policy of this response to the redirects that follow, so it needs the headers as well.
    void reply.headers(consentHeaders(interaction))
    return answerConsent(parts, { request, reply }, visitor, interaction)
  })
}

async function answerConsent(
  { pages }: SignInParts,
  { request, reply }: Exchange,
  visitor: Visitor,
  interaction: OpenInteraction,
): Promise<FastifyReply> {
  const { session, path } = visitor
  const { answer: given } = formFields(request)
  if (given === 'refuse') return reply.redirect(await refuseClient(interaction), 303)
  if (session === undefined || given !== 'allow') return reply.redirect(path, 303)
  const customer = await enrolCustomer(pages, request, interaction, session)
  if (customer === undefined) return restartSignIn(pages, reply, visitor)
  return reply.redirect(await allowClient(interaction, customer.reference), 303)
}

async function enrolCustomer(
  pages: PageParts,
  request: FastifyRequest,
  { issuer }: OpenInteraction,
  session: BrowserSession,
): Promise<Customer | undefined> {
  const { productRef } = issuer.server
  const caller = callerOfIssuer({ issuer })
  const { cycleMode } = await requireProvider(pages, caller)
  const known = await read(pages, caller, (sql) =>
    findCustomerOfEmail(sql, caller.providerId, session.email),
  )
  const operation: Operation = {
    ...caller,
    now: new Date(pages.clock.now()),
    actor: { ...originOf(request), name: `customer:${known?.reference ?? 'new'}` },
    requestId: request.id,
    idempotencyKey: null,
  }
  return commit(pages, operation, (work) =>
    enrolSignedInCustomer(work, session, { productRef, cycleMode }),
  )
}

type OpenedConsent = { readonly visitor: Visitor; readonly interaction: OpenInteraction }

async function openConsent(parts: SignInParts, exchange: Exchange): Promise<OpenedConsent> {
  const { sid = '' } = exchange.request.params as { readonly sid?: string }
  const interaction = await findInteraction(parts.auth.issuers, sid)
  if (interaction === undefined) throw new ProblemError(problems.signInEnded)
  const path = `${parts.pages.basePath}${authorizePath}/${sid}`
  const visitor = await readVisitor(parts, exchange, callerOfIssuer(interaction), path)
  if (interaction.interaction.result !== undefined) {
    throw new ProblemError(problems.signInEnded, visitor.frame)
  }
  return { visitor, interaction }
}

function callerOfIssuer({ issuer }: Pick<OpenInteraction, 'issuer'>): Caller {
  const { providerId, environment } = issuer.server
  return { providerId, environment }
}

/**
 * Returns the headers of the consent page. Its form redirects to the issuer and from there to the client, and browsers check both
 * addresses against the page's policy.
 */
function consentHeaders({ issuer, client }: OpenInteraction): Readonly<Record<string, string>> {
  const forms = [new URL(issuer.address.issuer).origin, policySourceOf(client.redirectUri)]
  return securityHeaders({ ...noForeignOrigins, forms })
}

/**
 * Returns the address as a source of a content security policy. Policies cannot contain an IPv6 address, so its scheme is used
 * instead.
 */
function policySourceOf(redirectUri: string): string {
  const { protocol, hostname, origin } = new URL(redirectUri)
  return /^https?:$/.test(protocol) && !hostname.startsWith('[') ? origin : protocol
}
