import { z } from 'zod'
import { removeBudget, setBudget } from '@tollgate/domain/budgets/set-budget'
import { minorPerMajor } from '@tollgate/domain/money/currencies'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { amountMinorMax } from '@tollgate/schemas/limits'
import type { ApiServer } from '../../access/api-server.ts'
import { commit } from '../../access/commit.ts'
import { parseMajor } from '../amount.ts'
import { formFields } from '../form-fields.ts'
import { showFormAgain } from '../submitted-form.ts'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'
import { purchasePath } from './purchase-card.tsx'
import { requirePurchase, type PortalPurchaseParts } from './purchase-routes.ts'

const params = z.object({ handle: z.string(), purchaseRef: requiredReference })

/** Registers the form that sets or removes the customer's budget for the product of a purchase. */
export function registerBudgetForm(app: ApiServer, pages: PortalPurchaseParts): void {
  const path = `${portalPath}/:handle/purchases/:purchaseRef/budget`
  app.post(path, { schema: { hide: true, params } }, async (request, reply) => {
    const portal = portalOf(request)
    const { purchase } = await requirePurchase(pages, request, request.params.purchaseRef)
    const { productRef, currency } = purchase
    const customerRef = portal.customer.reference
    const form = formFields(request)
    const page = purchasePath(portal, purchase.reference)
    const operation = operationOfPortal(pages, request)
    if (form['do'] === 'remove') {
      await commit(pages, operation, (work) => removeBudget(work, customerRef, productRef))
      return reply.redirect(`${page}?done=budget-removed`, 303)
    }
    const typed = form['amount']?.trim().slice(0, 32) ?? ''
    const amountMinor = amountMinorOf(typed, currency)
    const action = form['action'] === 'stop' ? 'stop' : 'warn'
    if (amountMinor === undefined) {
      const { t, formats } = portal.frame
      const text = t('portal:budgetFault', { example: formats.decimal(20) })
      return showFormAgain(pages, reply, portal, page, { fields: {}, text })
    }
    const budget = { customerRef, productRef, amountMinor, currency, action } as const
    await commit(pages, operation, (work) => setBudget(work, budget))
    return reply.redirect(`${page}?done=budget-saved`, 303)
  })
}

/** Returns the typed amount in minor units, or undefined if it is none that a budget can have. */
function amountMinorOf(typed: string, currency: string): number | undefined {
  const major = parseMajor(typed)
  if (major === undefined) return undefined
  const minor = Math.round(major * 100) / (100 / Number(minorPerMajor(currency)))
  return Number.isInteger(minor) && minor >= 1 && minor <= amountMinorMax ? minor : undefined
}
