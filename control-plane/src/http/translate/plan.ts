import { currencySymbol } from '@tollgate/domain/plans/currency-symbol'
import { requiresPayment, type Plan } from '@tollgate/domain/plans/plan'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import { definedFields } from '../../domain/defined-fields.ts'

export function planToHttp(plan: Plan): PlanBody {
  return {
    ...plan.terms,
    // Copy the options: the terms are shared, and the type of the response is mutable.
    ...(plan.terms.pricingOptions === undefined
      ? {}
      : { pricingOptions: [...plan.terms.pricingOptions] }),
    ...(plan.terms.charges === undefined ? {} : { charges: [...plan.terms.charges] }),
    reference: plan.reference,
    name: plan.name,
    type: plan.type,
    price: plan.priceMinor,
    currency: plan.currency,
    currencySymbol: currencySymbol(plan.currency),
    requiresPayment: requiresPayment(plan),
    isActive: plan.status === 'active',
    hidden: plan.hidden,
    default: plan.isDefault,
    status: plan.status,
    createdAt: plan.createdAt.toISOString(),
    updatedAt: plan.updatedAt.toISOString(),
    ...definedFields({
      description: plan.description,
      basePrice: plan.basePriceMinor,
      setupFee: plan.setupFeeMinor,
      meterRef: plan.meterRef,
    }),
  } as PlanBody
}
