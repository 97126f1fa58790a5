import { expect, test } from 'vitest'
import type { Plan } from '../plans/plan.ts'
import type { Tool } from '../catalog/tool.ts'
import { findOpenedTools } from './find-opened-tools.ts'

const plan = (reference: string, priceMinor: number, changes: Partial<Plan> = {}) =>
  ({
    ...{ reference, priceMinor, key: reference, status: 'active', type: 'recurring' },
    ...{ basePriceMinor: null, setupFeeMinor: null, isDefault: false, terms: {}, ...changes },
  }) as Plan

const free = plan('free', 0)
const pro = plan('pro', 900)
const team = plan('team', 1900)

const tool = (changes: Partial<Tool> = {}): Tool => ({
  ...{ name: 'report', description: null, access: 'plans', planRefs: ['pro'] },
  ...{ onlyListedPlans: false, cancelledCalls: null, hasVanished: false, ...changes },
})

const opened = (given: Tool, plans = [free, pro, team]) => findOpenedTools([given], plans)?.tools

test('finds tools for which only paid plans are listed', () => {
  expect(
    findOpenedTools([tool(), tool({ name: 'all', planRefs: ['pro', 'team'] })], [free, pro, team]),
  ).toEqual({ defaultPlan: free, tools: ['report', 'all'] })
})

test.each([
  ['reserved tools', tool({ onlyListedPlans: true })],
  ['tools that list the default plan', tool({ planRefs: ['free', 'pro'] })],
  ['tools for the default plan alone', tool({ planRefs: [] })],
  ['public tools', tool({ access: 'public', planRefs: [] })],
  ['tools for every plan', tool({ access: 'every-plan', planRefs: [] })],
  ['tools that the MCP server no longer has', tool({ hasVanished: true })],
])('does not find %s', (_name, given) => {
  expect(opened(given)).toBeUndefined()
})

test('finds nothing without a default plan, and finds the tools that another default plan opens', () => {
  expect(opened(tool(), [pro, team])).toBeUndefined()
  expect(opened(tool(), [pro, plan('usage', 0, { type: 'usage-based', isDefault: true })])).toEqual(
    ['report'],
  )
  expect(opened(tool(), [free, plan('pro', 900, { status: 'archived' })])).toBeUndefined()
})
