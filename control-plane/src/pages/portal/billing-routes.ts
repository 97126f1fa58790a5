import { changeTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { formFields } from '../form-fields.ts'
import { keptFormOf, noticeOf, sendBack } from '../kept-form.ts'
import { sendPage } from '../page.tsx'
import { readBillingDetails, toldDetails, typedDetails, wrongField } from './billing-details.ts'
import { BillingPage } from './billing-page.tsx'
import { operationOfPortal, portalOf, portalPath } from './portal.ts'

const schema = { hide: true }
const path = `${portalPath}/:handle/payment/billing`

/** Registers the pages that show the buyer's details and change them for future invoices. */
export function registerBillingPages(
  app: ApiServer,
  pages: ChangeParts & { readonly hostedUrl: string },
): void {
  app.get(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const details = await readBillingDetails(pages, portal)
    const kept = keptFormOf(request, portal)
    const form = kept === undefined ? details.stored : typedDetails(kept.fields)
    const wrong = kept === undefined ? undefined : wrongField(form, details)
    const shown = { portal, details, form, wrong, notice: noticeOf(kept) }
    return sendPage(reply, 200, BillingPage(shown))
  })

  app.post(path, { schema }, async (request, reply) => {
    const portal = portalOf(request)
    const { t } = portal.frame
    const typed = typedDetails(formFields(request))
    const details = await readBillingDetails(pages, portal)
    const isWrong = wrongField(typed, details) !== undefined
    const isSaved =
      !isWrong &&
      (await commit(pages, operationOfPortal(pages, request), async (work) => {
        const told = toldDetails(typed, portal.customer)
        return (await changeTaxDetails(work, portal.customer.reference, told)).kind === 'accept'
      }))
    if (isSaved) return reply.redirect(`${portal.path}/payment?done=billing`, 303)
    const fields = { ...typed, isBusiness: typed.isBusiness ? 'yes' : '' }
    const kept = { fields, text: t('portal:checkBilling') }
    return sendBack(pages, reply, portal, `${portal.path}/payment/billing`, kept)
  })
}
