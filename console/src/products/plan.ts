import type { Answer } from '../api/answers.ts'
import type { operations } from '../api/openapi.d.ts'

export type Plan = Answer<'getPlan'>
export type Charge = NonNullable<Plan['charges']>[number]
export type Tier = NonNullable<Charge['tiers']>[number]
export type PlanChanges = operations['updatePlan']['requestBody']['content']['application/json']
export type PlanPath = { readonly productRef: string; readonly planRef: string }
