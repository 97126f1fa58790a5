import { anyModel } from '@tollgate/schemas/http/model-costs'
import type { ModelCostReading } from '@tollgate/schemas/meter-reading'

/** Returns whether a meter records calls of models that have no price, with a cost of 0. */
export function recordsUnpriced({ unknownModel, prices }: ModelCostReading): boolean {
  return unknownModel === 'record' && prices.every(({ model }) => model !== anyModel)
}
