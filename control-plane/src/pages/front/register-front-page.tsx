import type { FastifyRequest } from 'fastify'
import { jobActor } from '@tollgate/domain/audit/actor'
import { openCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { openCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import { checkoutPageUrl, customerPageUrl } from '@tollgate/domain/sessions/hosted-pages'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { originOf } from '../../access/caller.ts'
import { requireCustomer } from '../../access/require.ts'
import { checkLimit, type LimitCheckParts } from '../../limits/check-limit.ts'
import { formTokenOf, isFormToken } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { seeOther, sendProviderPage, wantsPage } from '../provider/provider-page.tsx'
import { ProviderProblemError, providerProblems } from '../provider/provider-problem.tsx'
import { mayReadInbox } from '../sign-in/inbox-page.tsx'
import { firstSteps, generalSteps } from './first-steps.ts'
import { demoPaths, FrontPage } from './front-page.tsx'
import { readDemo, type Demo, type DemoParts } from './read-demo.ts'
import type { ReadParts } from '../../access/read.ts'
import type { InboxParts } from '../sign-in/sign-in-page-parts.ts'

export type FrontPageParts = LimitCheckParts & HostedParts & InboxParts & DemoParts

/** Registers the page at `/`. Programs get the response of an unknown path there. */
export function registerFrontPage(app: ApiServer, pages: FrontPageParts): void {
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!wantsPage(request)) return reply.callNotFound()
    const demo = await readDemo(pages, request)
    const steps =
      demo === undefined
        ? generalSteps(pages.hostedUrl)
        : firstSteps({
            ...demo,
            baseUrl: pages.hostedUrl,
            callsLeft: await callsLeftOf(pages, request, demo),
            now: new Date(pages.clock.now()),
          })
    const shown = demo && { ...demo, formToken: formTokenOf(demo.sandboxKey) }
    const hasInbox = mayReadInbox(pages, request)
    const page = <FrontPage frame={pages} steps={steps} demo={shown} hasInbox={hasInbox} />
    return sendProviderPage(reply.header('vary', 'accept'), 200, page)
  })
  if (pages.demoFile !== '') registerDemoPages(app, pages)
}

/** Returns undefined if the remaining calls cannot be read now. The page is then shown without them. */
async function callsLeftOf(
  pages: FrontPageParts,
  request: FastifyRequest,
  demo: Demo,
): Promise<number | undefined> {
  const { customer, productRef } = demo
  const limitsRequest = {
    customerRef: customer.reference,
    productRef,
    includeCheckoutSession: false,
  }
  try {
    return (await checkLimit(pages, operationOf(pages, request, demo), limitsRequest)).remaining
  } catch (error) {
    request.log.warn({ err: error }, 'could not check the limit of the demo customer')
    return undefined
  }
}

/**
 * Registers forms that create a session of the demo customer and redirect to its page. The path is relative, because browsers
 * follow the redirect of a form only on the host of the form, which may be `localhost`.
 */
function registerDemoPages(app: ApiServer, pages: FrontPageParts): void {
  app.post(demoPaths.portal, { schema: { hide: true } }, async (request, reply) => {
    const { operation, customerRef } = await requireDemo(pages, request)
    const { sessionId } = await commit(pages, operation, (work) =>
      openCustomerSession(work, pages.limits, { customerRef, productRef: null }),
    )
    return seeOther(reply, customerPageUrl(pages.basePath, sessionId))
  })

  app.post(demoPaths.checkout, { schema: { hide: true } }, async (request, reply) => {
    const { operation, customerRef, productRef } = await requireDemo(pages, request)
    const { sessionId } = await commit(pages, operation, (work) =>
      openCheckoutSession(work, pages, {
        customerRef,
        productRef,
        purpose: 'product',
        plan: undefined,
        returnUrl: null,
        mayChangePlan: true,
      }),
    )
    return seeOther(reply, checkoutPageUrl(pages.basePath, sessionId))
  })
}

/** Requires the form token of the page. Another site cannot know it, so it cannot send the form. */
async function requireDemo(
  pages: DemoParts & ReadParts,
  request: FastifyRequest,
): Promise<{ operation: Operation; customerRef: string; productRef: string }> {
  const demo = await readDemo(pages, request)
  if (demo === undefined) throw new ProviderProblemError(providerProblems.notFound)
  if (!isFormToken(demo.sandboxKey, formFields(request)['formToken'])) {
    throw new ProviderProblemError(providerProblems.staleForm)
  }
  const operation = operationOf(pages, request, demo)
  const { reference: customerRef } = await requireCustomer(
    pages,
    demo.caller,
    demo.customer.reference,
  )
  return { operation, customerRef, productRef: demo.productRef }
}

function operationOf(
  pages: { readonly clock: Clock },
  request: FastifyRequest,
  { caller }: Demo,
): Operation {
  return {
    ...caller,
    now: new Date(pages.clock.now()),
    actor: { ...jobActor('demo page'), ...originOf(request) },
    requestId: request.id,
    idempotencyKey: null,
  }
}
