import { z } from 'zod'
import { countMax } from '../limits.ts'
import { isQuantity, shortText, unitCount } from './fields.ts'

/** Credits per unit, with up to 6 decimals. */
export const creditRate = z.number().min(0).max(countMax).refine(isQuantity, {
  error: 'At most 6 decimals are allowed',
})

export const usageTierSchema = z.object({
  name: shortText.optional(),
  minUsage: unitCount,
  maxUsage: unitCount.nullable().optional(),
  creditsPerUnit: creditRate,
})
