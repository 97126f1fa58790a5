import type { FastifyReply } from 'fastify'
import type { BrowserSession } from '@tollgate/domain/customer-auth/browser-sessions'
import {
  findCustomerOfEmail,
  lockCustomerOfEmail,
} from '@tollgate/domain/customer-auth/find-customer-of-email'
import { findLink, redeemLink, type PlacedLink } from '@tollgate/domain/customer-auth/links'
import { linkIdentity } from '@tollgate/domain/customer-auth/upstream-identities'
import type { Customer } from '@tollgate/domain/customers/repository'
import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import { findPlan } from '@tollgate/domain/catalog/plans-repository'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { openCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import { customerTime } from '@tollgate/domain/test-clocks/customer-time'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { operationOfCustomer } from '../customer-operation.ts'
import type { SignInPageParts as PageParts } from './sign-in-page-parts.ts'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { ConnectPage, OtherCustomerPage } from './connect-page.tsx'
import { registerSignInForms, showSignIn } from './sign-in-routes.tsx'
import {
  readVisitor,
  restartSignIn,
  type Exchange,
  type SignInParts,
  type Visitor,
} from './visitor.ts'

export const connectPath = '/customer/connect'

const pagePath = `${connectPath}/:id`

/**
 * Registers the links that applications show to their users. After a sign-in, such a link leads its customer to the portal or a
 * checkout.
 */
export function registerConnectPages(app: ApiServer, parts: SignInParts): void {
  const { pages } = parts
  const schema = { hide: true }
  registerSignInForms(
    app,
    parts,
    pagePath,
    async (exchange) => (await openLink(parts, exchange)).visitor,
  )

  app.get(pagePath, { schema }, async (request, reply) => {
    const { visitor, link } = await openLink(parts, { request, reply })
    if (visitor.session === undefined) return showSignIn(parts, { request, reply }, visitor)
    const customer = await findVisitingCustomer(pages, visitor)
    if (customer?.reference !== link.customerRef) return sendOtherCustomerPage(reply, visitor)
    return sendPage(reply, 200, <ConnectPage visitor={visitor} purpose={link.purpose} />)
  })

  app.post(`${pagePath}/continue`, { schema }, async (request, reply) => {
    const { visitor, link, id } = await openLink(parts, { request, reply })
    const { session } = visitor
    if (session === undefined) return reply.redirect(visitor.path, 303)
    const customer = await findVisitingCustomer(pages, visitor)
    if (customer?.reference !== link.customerRef) return sendOtherCustomerPage(reply, visitor)
    const { caller } = visitor
    const operation = operationOfCustomer(pages, request, { caller, customer })
    let address: string | undefined
    try {
      address = await commit(pages, operation, (work) =>
        followLink(pages, work, { session, link, id }),
      )
    } catch (error) {
      if (error instanceof SignInEndedError) return restartSignIn(pages, reply, visitor)
      throw error
    }
    if (address === undefined) throw new ProblemError(problems.connectEnded, visitor.frame)
    return reply.redirect(address, 303)
  })
}

/** Rolls back the transaction of a sign-in that is no longer valid. */
class SignInEndedError extends Error {}

/** Uses the link. Returns the address to which it leads, or undefined if it was used before or its customer no longer exists. */
async function followLink(
  pages: PageParts,
  work: UnitOfWork,
  given: { readonly session: BrowserSession; readonly link: PlacedLink; readonly id: string },
): Promise<string | undefined> {
  const { session, link, id } = given
  const { identity, email } = session
  const customer = await lockCustomerOfEmail(work.sql, work.providerId, email)
  if (customer === undefined || customer === 'gone') return undefined
  if (customer.reference !== link.customerRef) throw new SignInEndedError()
  if (!(await redeemLink(work, id))) return undefined
  if (identity !== null) {
    const linked = await linkIdentity(work, { identity, email }, () => Promise.resolve(customer))
    if (linked === undefined) throw new SignInEndedError()
  }
  // Links have real time. The page that opens has the customer's, by which its session ends.
  const name = { providerId: work.providerId, customerRef: link.customerRef }
  const now = await customerTime(work.sql, work.environment, name, work.now)
  return openLinkedPage(pages, { ...work, now }, link)
}

/** Opens the page for which the link was created. Returns its address. */
async function openLinkedPage(
  pages: PageParts,
  work: UnitOfWork,
  link: PlacedLink,
): Promise<string> {
  const { customerRef, productRef, purpose, planRef } = link
  if (purpose === 'portal') {
    const request = { customerRef, productRef }
    const { sessionId } = await openCustomerSession(work, pages.limits, request)
    return customerPageUrl(pages.basePath, sessionId)
  }
  const plan =
    productRef === null || planRef === null || purpose === 'topup'
      ? undefined
      : await findPlan(work.sql, work.providerId, productRef, planRef)
  const { sessionId } = await openCheckoutSession(work, pages, {
    customerRef,
    productRef,
    purpose: purpose === 'topup' ? 'credit_topup' : 'product',
    // If the plan is no longer offered, the customer chooses another one.
    plan: plan !== undefined && isOffered(plan) ? plan : undefined,
    returnUrl: null,
    mayChangePlan: true,
  })
  return checkoutPageUrl(pages.basePath, sessionId)
}

type OpenedLink = { readonly visitor: Visitor; readonly link: PlacedLink; readonly id: string }

async function openLink(parts: SignInParts, exchange: Exchange): Promise<OpenedLink> {
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

function sendOtherCustomerPage(reply: FastifyReply, visitor: Visitor): FastifyReply {
  return sendPage(reply, 403, <OtherCustomerPage visitor={visitor} />)
}
