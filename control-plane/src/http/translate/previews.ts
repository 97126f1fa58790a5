import type { ChangePreview } from '@tollgate/domain/previews/preview-change'
import type { CancelPreview } from '@tollgate/domain/previews/preview-cancel'
import type { PricedHolder, PeriodPrice } from '@tollgate/domain/previews/price-holder'
import type { PreviewedInvoices } from '@tollgate/domain/previews/preview-invoices'
import type { PurchasePreview } from '@tollgate/domain/previews/preview-purchase'
import type { PreviewedInvoice } from '@tollgate/domain/previews/price-invoices'
import { farFuture } from '@tollgate/domain/entitlements/compile-entitlement'
import { formatMoney } from '@tollgate/domain/money/currencies'
import { chargeMinMinor } from '@tollgate/domain/money/processor-amounts'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { partsOfUsage } from '@tollgate/domain/pricing/price-charge'
import { unitsOfCharge } from '@tollgate/domain/pricing/units-of-charge'
import type {
  CancelPreviewBody,
  ChangePreviewBody,
  InvoicePreviewBody,
  PlanPreviewBody,
  PreviewedInvoiceBody,
} from '@tollgate/schemas/http/previews'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { definedFields } from '../../domain/defined-fields.ts'
import { lineToHttp, taxToHttp } from './invoice.ts'
import { unitPriceToHttp, unpricedToHttp } from './price-preview.ts'

export function purchasePreviewToHttp(
  purchaseRef: string,
  { period, unpriced, threshold, ...invoices }: PurchasePreview,
  asOf: Date,
): Omit<InvoicePreviewBody, 'wallet'> {
  return {
    purchaseRef,
    ...invoicesToHttp(invoices, asOf),
    unpriced: unpriced.map(unpricedToHttp),
    ...definedFields({
      period: period && {
        start: period.start.toISOString(),
        ...(period.end >= farFuture ? {} : { end: period.end.toISOString() }),
      },
      billWithinPeriod: threshold && {
        atUnbilled: Number(threshold.amountMinor),
        isReached: threshold.isReached,
      },
    }),
  }
}

const debtsMessage =
  'The customer has unpaid invoices for the product. They are paid at a checkout first.'

export function changePreviewToHttp(preview: ChangePreview, asOf: Date): ChangePreviewBody {
  const nothing = { asOf: asOf.toISOString(), invoices: [] }
  switch (preview.kind) {
    case 'refused':
      return { status: 'invalid', message: preview.reason, ...nothing }
    case 'already-active': {
      const { withdrawn } = preview
      const message =
        withdrawn === null ? undefined : `The change to ${withdrawn.name} is withdrawn.`
      return { status: 'already_active', ...nothing, ...definedFields({ message }) }
    }
    case 'debts-first':
      return {
        status: 'payment_required',
        needs: 'unpaid_invoices',
        message: debtsMessage,
        ...nothing,
      }
    case 'begins':
      return beginningToHttp(preview, asOf)
  }
}

function beginningToHttp(
  preview: Extract<ChangePreview, { kind: 'begins' }>,
  asOf: Date,
): ChangePreviewBody {
  const { needs, startsAt, trialEndsAt, unusedTime, lostUnits, includedMicros } = preview
  // The trial of a plan is started on a checkout, also if it needs no card.
  const isActivated = needs === 'nothing' && trialEndsAt === undefined
  return {
    status: isActivated ? 'activated' : 'payment_required',
    needs,
    startsAt: startsAt.toISOString(),
    lostUnits: lostUnits.map(({ meterName, micros }) => ({
      meterName,
      units: decimalFromMicros(micros),
    })),
    sharesUsage: preview.sharesUsage,
    ...invoicesToHttp(preview, asOf),
    ...definedFields({
      trialEndsAt: trialEndsAt?.toISOString(),
      unusedTime: unusedTime && {
        amount: Number(unusedTime.amountMinor),
        currency: unusedTime.currency,
        treatment: unusedTime.isCredited ? ('credited' as const) : ('lost' as const),
      },
      includedUnits: includedMicros === null ? null : decimalFromMicros(includedMicros),
    }),
  }
}

const cancelEffects = {
  'end-now': 'ends_now',
  schedule: 'scheduled',
  'already-cancelled': 'already_cancelled',
} as const

export function cancelPreviewToHttp(
  {
    decision,
    purchase,
    releasedInvoices,
    ...invoices
  }: Extract<CancelPreview, { kind: 'cancelled' }>,
  asOf: Date,
): CancelPreviewBody {
  const endsAt = purchase.endedAt ?? purchase.endDate
  return {
    effect: cancelEffects[decision.kind],
    releasedInvoices: [...releasedInvoices],
    ...invoicesToHttp(invoices, asOf),
    ...definedFields({
      endsAt: endsAt?.toISOString(),
      renewsAt: purchase.nextBillingDate?.toISOString(),
    }),
  }
}

function invoicesToHttp(
  { invoices, usageAsOf }: PreviewedInvoices,
  asOf: Date,
): Pick<InvoicePreviewBody, 'asOf' | 'usageAsOf' | 'invoices'> {
  return {
    asOf: asOf.toISOString(),
    usageAsOf: usageAsOf.toISOString(),
    invoices: invoices.map(previewedInvoiceToHttp),
  }
}

function previewedInvoiceToHttp(invoice: PreviewedInvoice): PreviewedInvoiceBody {
  const { cause, plan, currency, lines, at, isIssued, isHeld, purchaseRef } = invoice
  const carriedIn = lines.find(({ inputs }) => inputs.kind === 'carried_in')
  const isCharged = invoice.dueMinor > 0n && !isHeld
  return {
    ...{ cause, currency, isIssued, isHeld, planRef: plan.reference, planName: plan.name },
    lines: lines.map(previewLineToHttp),
    taxes: lines.flatMap(taxToHttp),
    carriedIn: Number(carriedIn?.amountMinor ?? 0n),
    total: Number(invoice.totalMinor),
    due: Number(invoice.dueMinor),
    carried: Number(invoice.carriedMinor),
    minimumCharge: Number(chargeMinMinor(currency)),
    formattedTotal: formatMoney(invoice.totalMinor, currency),
    ...definedFields({
      purchaseRef,
      issuedAt: at?.toISOString(),
      chargedAt: isCharged ? at?.toISOString() : undefined,
    }),
  }
}

function previewLineToHttp(line: InvoiceLine): PreviewedInvoiceBody['lines'][number] {
  const { inputs } = line
  if (inputs.kind !== 'usage') return lineToHttp(line)
  const parts = partsOfUsage(inputs.terms, unitsOfCharge(inputs))
  const reached = parts.filter(({ micros, flatPrice }) => micros !== 0n || flatPrice !== '0')
  return { ...lineToHttp(line), prices: reached.map(unitPriceToHttp) }
}

export function holderToHttp({
  purchase,
  period,
  before,
  after,
}: PricedHolder): PlanPreviewBody['holders'][number] {
  const { reference: purchaseRef, customerRef, currency } = purchase
  const [was, is] = [before && periodPriceToHttp(before), after && periodPriceToHttp(after)]
  return {
    ...{ purchaseRef, customerRef, currency },
    ...definedFields({
      period: period && { start: period.start.toISOString(), end: period.end.toISOString() },
      before: was,
      after: is,
      difference: was && is && is.total - was.total,
    }),
  }
}

function periodPriceToHttp({ priceMinor, usageMinor }: PeriodPrice) {
  return {
    price: Number(priceMinor),
    usage: Number(usageMinor),
    total: Number(priceMinor + usageMinor),
  }
}
