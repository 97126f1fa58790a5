import type { AddOn } from '@tollgate/domain/catalog/add-on'
import type { AddOnBody } from '@tollgate/schemas/http/add-ons'
import { definedFields } from '../../domain/defined-fields.ts'

export function addOnToHttp(addOn: AddOn): AddOnBody {
  const { reference, productRef, name, currency, billingCycle, raises, planRefs } = addOn
  return {
    ...{ reference, productRef, name, currency, billingCycle },
    ...{ price: addOn.priceMinor, setupFee: addOn.setupFeeMinor },
    ...{ raises: [...raises], planRefs: [...planRefs] },
    ...definedFields({
      description: addOn.description,
      billingCycleDays: addOn.billingCycleDays,
      maxQuantity: addOn.quantityMax,
      archivedAt: addOn.archivedAt?.toISOString() ?? null,
    }),
    createdAt: addOn.createdAt.toISOString(),
    updatedAt: addOn.updatedAt.toISOString(),
  }
}
