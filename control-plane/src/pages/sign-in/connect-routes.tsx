import type { FastifyReply } from 'fastify'
import { customerActor } from '@tollgate/domain/audit/actor'
import { findCustomerOfEmail } from '@tollgate/domain/customer-auth/find-customer-of-email'
import { findLink, useLink, type PlacedLink } from '@tollgate/domain/customer-auth/links'
import { linkIdentity } from '@tollgate/domain/customer-auth/upstream-identities'
import type { Customer } from '@tollgate/domain/customers/repository'
import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { openCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ApiServer } from '../../http/api-server.ts'
import { commit } from '../../http/commit.ts'
import { originOf } from '../../http/plugins/authentication.ts'
import { read } from '../../http/read.ts'
import type { PageParts } from '../frame.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { ConnectPage, OtherCustomerPage } from './connect-page.tsx'
import { registerSignInForms, showSignIn } from './sign-in-routes.tsx'
import {
  readVisitor,
  signInAgain,
  type Exchange,
  type SignInParts,
  type Visitor,
} from './visitor.ts'

export const connectPath = '/customer/connect'

const pagePath = `${connectPath}/:id`

/** Links that applications show their users: they lead the customer that they are for on, after a sign-in. */
export function registerConnectPages(app: ApiServer, parts: SignInParts): void {
  const { pages } = parts
  const schema = { hide: true }
  registerSignInForms(
    app,
    parts,
    pagePath,
    async (exchange) => (await open(parts, exchange)).visitor,
  )

  app.get(pagePath, { schema }, async (request, reply) => {
    const { visitor, link } = await open(parts, { request, reply })
    if (visitor.session === undefined) return showSignIn(parts, { request, reply }, visitor)
    const customer = await findVisitingCustomer(pages, visitor)
    if (customer?.reference !== link.customerRef) return refuse(reply, visitor)
    return sendPage(reply, 200, <ConnectPage visitor={visitor} purpose={link.purpose} />)
  })

  app.post(`${pagePath}/continue`, { schema }, async (request, reply) => {
    const { visitor, link, id } = await open(parts, { request, reply })
    const { session } = visitor
    if (session === undefined) return reply.redirect(visitor.path, 303)
    const customer = await findVisitingCustomer(pages, visitor)
    if (customer?.reference !== link.customerRef) return refuse(reply, visitor)
    const operation = {
      ...visitor.caller,
      now: new Date(pages.clock.now()),
      actor: customerActor(link.customerRef, originOf(request)),
      requestId: request.id,
      idempotencyKey: null,
    }
    const outcome = await commit(pages, operation, async (work) => {
      const { identity, email } = session
      const isCustomers =
        identity === null ||
        (await linkIdentity(work, { identity, email }, () => Promise.resolve(customer)))
      if (!isCustomers) return 'other-customer'
      return (await useLink(work, id)) ? { address: await openPage(pages, work, link) } : 'ended'
    })
    if (outcome === 'other-customer') return signInAgain(pages, reply, visitor)
    if (outcome === 'ended') throw new ProblemError(problems.connectEnded, visitor.frame)
    return reply.redirect(outcome.address, 303)
  })
}

/** Opens the page that the link is for. Returns its address. */
async function openPage(pages: PageParts, work: UnitOfWork, link: PlacedLink): Promise<string> {
  const { customerRef, productRef, purpose, planRef } = link
  if (purpose === 'portal') {
    const asked = { customerRef, productRef }
    const { sessionId } = await openCustomerSession(work, pages.limits, asked)
    return customerPageUrl(pages.basePath, sessionId)
  }
  const plan =
    planRef === null || purpose === 'topup'
      ? undefined
      : await findPlan(work.sql, work.providerId, productRef, planRef)
  const { sessionId } = await openCheckoutSession(work, pages, {
    customerRef,
    productRef,
    purpose: purpose === 'topup' ? 'credit_topup' : 'product',
    // A plan that is no longer offered leaves the choice to the customer.
    plan: plan !== undefined && isOffered(plan) ? plan : undefined,
    returnUrl: null,
    mayChangePlan: true,
  })
  return checkoutPageUrl(pages.basePath, sessionId)
}

type Opened = { readonly visitor: Visitor; readonly link: PlacedLink; readonly id: string }

async function open(parts: SignInParts, exchange: Exchange): Promise<Opened> {
  const { pages } = parts
  const { id = '' } = exchange.request.params as { readonly id?: string }
  const now = new Date(pages.clock.now())
  const link = await findLink(pages.publisher.database, id, now)
  if (link === undefined) throw new ProblemError(problems.noSuchLink)
  const { providerId, environment, status } = link
  const path = `${pages.basePath}${connectPath}/${id}`
  const visitor = await readVisitor(parts, exchange, { providerId, environment }, path)
  if (status !== 'open') throw new ProblemError(problems.connectEnded, visitor.frame)
  return { visitor, link, id }
}

async function findVisitingCustomer(
  pages: PageParts,
  { caller, session }: Visitor,
): Promise<Customer | undefined> {
  const email = session?.email ?? ''
  return read(pages, caller, (sql) => findCustomerOfEmail(sql, caller.providerId, email))
}

function refuse(reply: FastifyReply, visitor: Visitor): FastifyReply {
  return sendPage(reply, 403, <OtherCustomerPage visitor={visitor} />)
}
