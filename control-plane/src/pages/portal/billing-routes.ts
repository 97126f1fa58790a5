import { changeTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { lookUpEnteredTaxId } from '@tollgate/domain/charging/tax-payment'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { formFields } from '../form-fields.ts'
import { submittedFormOf, refusalNotice, showFormAgain } from '../submitted-form.ts'
import { sendPage } from '../page.tsx'
import {
  readBillingDetails,
  changedTaxDetails,
  detailsFromForm,
  findInvalidField,
} from './billing-details.ts'
import { BillingPage } from './billing-page.tsx'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'

const schema = { hide: true }
const path = `${portalPath}/:handle/payment/billing`

/** Registers the pages that show the buyer's details and change them for future invoices. */
export function registerBillingPages(
  app: ApiServer,
  pages: ChangeParts & { readonly hostedUrl: string; readonly payments: PaymentParts },
): void {
  app.get(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const details = await readBillingDetails(pages, portal)
    const submitted = submittedFormOf(request, portal)
    const form = submitted === undefined ? details.stored : detailsFromForm(submitted.fields)
    const invalidField = submitted === undefined ? undefined : findInvalidField(form, details)
    const shown = { portal, details, form, invalidField, notice: refusalNotice(submitted) }
    return sendPage(reply, 200, BillingPage(shown))
  })

  app.post(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { t } = portal.frame
    const typed = detailsFromForm(formFields(request))
    const details = await readBillingDetails(pages, portal)
    const isInvalid = findInvalidField(typed, details) !== undefined
    const operation = operationOfPortal(pages, request)
    const taxDetails = changedTaxDetails(typed, portal.customer)
    if (!isInvalid) await lookUpEnteredTaxId(pages.payments, operation, taxDetails)
    const isSaved =
      !isInvalid &&
      (await commit(pages, operation, async (work) => {
        const decision = await changeTaxDetails(work, portal.customer.reference, taxDetails)
        return decision.kind === 'accept'
      }))
    if (isSaved) return reply.redirect(`${portal.path}/payment?done=billing`, 303)
    const fields = { ...typed, isBusiness: typed.isBusiness ? 'yes' : '' }
    const submitted = { fields, text: t('portal:checkBilling') }
    return showFormAgain(pages, reply, portal, `${portal.path}/payment/billing`, submitted)
  })
}
